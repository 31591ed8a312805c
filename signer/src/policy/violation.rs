//! Every rule of the policy, one line each: its stable id, and the sentence that a refusal says.
//!
//! Ids are never renamed and never reused: clients, tests and the journal know them.

use chancery_shared::csr::CsrError;
use chancery_shared::signature::SignatureError;
use der::asn1::ObjectIdentifier;
use time::OffsetDateTime;

macro_rules! rules {
    ($($variant:ident $(($($data:ty),+))? = $rule:literal: $sentence:literal;)+) => {
        /// The first rule that a draft breaks. `Display` says what was refused, why, and what
        /// would pass.
        #[derive(Debug, PartialEq, Eq, thiserror::Error)]
        pub enum PolicyViolation {
            $(
                #[doc = concat!("`", $rule, "`: ", $sentence)]
                #[error($sentence)]
                $variant $(($($data),+))?,
            )+
        }

        impl PolicyViolation {
            /// The ids of all rules, in the order of the table.
            pub const RULES: &'static [&'static str] = &[$($rule),+];

            /// The stable id of the rule.
            #[must_use]
            pub fn rule(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $rule,)+
                }
            }
        }
    };
}

type Oid = ObjectIdentifier;

rules! {
    NoCaCertificate = "key.ca-certificate":
        "the key has no CA certificate yet and so no name to issue under; install one first";

    TooLong(usize) = "tbs.size":
        "the TBS has {0} bytes; at most 49152 (48 KiB) pass";
    NotDer(der::Error) = "tbs.der":
        "this is not the DER of a TBSCertificate: {0}";
    TrailingBytes = "tbs.trailing-bytes":
        "bytes follow the TBSCertificate; only the TBSCertificate itself passes";
    NotCanonical = "tbs.canonical":
        "the TBSCertificate is not encoded as DER demands (a DEFAULT written out, for example); \
         only the bytes that encoding it anew gives pass";
    NotVersion3 = "tbs.version":
        "the version is not v3; only v3 (2) passes";
    DuplicateExtension(Oid) = "tbs.duplicate-extension":
        "the extension {0} stands there twice; each passes once (RFC 5280, section 4.2)";
    IssuerName = "tbs.issuer":
        "the issuer is not the CA certificate's subject; exactly its bytes pass";
    SignatureAlgorithm = "tbs.signature-algorithm":
        "the signature field is not the AlgorithmIdentifier of this key; exactly its bytes pass";

    SerialForm = "serial.form":
        "the serial number is not a positive INTEGER of 20 octets";
    SerialConstruction = "serial.construction":
        "the serial number is not the one that its nonce and this TBS give";
    NonceOfAnotherConnection = "serial.nonce-connection":
        "the serial nonce is not of this connection; it begins with the nonce that hello answered";
    NonceUsed = "serial.nonce-used":
        "the counter of the serial nonce was used before; a higher one passes";
    NonceTooOld = "serial.nonce-too-old":
        "the counter of the serial nonce lies more than 4096 behind the highest; a higher one \
         passes";

    NotBeforeTooEarly(OffsetDateTime) = "validity.not-before-too-early":
        "notBefore lies further back than policy allows; {0} or later passes";
    NotBeforeInFuture(OffsetDateTime) = "validity.not-before-in-future":
        "notBefore lies in the future; {0} or earlier passes";
    NotAfterFirst = "validity.order":
        "notAfter does not lie behind notBefore";
    AlreadyOver = "validity.already-over":
        "notAfter has passed already; a later one passes";
    ValidityTooLong(u32) = "validity.too-long":
        "the validity is longer than policy allows; {0} days pass, the last second included";
    BeyondIssuer(OffsetDateTime) = "validity.beyond-issuer":
        "notAfter lies behind the CA certificate's own end; {0} or earlier passes";

    PublicKeyMalformed = "public-key.malformed":
        "the subject public key can't be read as a key of its algorithm";
    PublicKeyAlgorithm(Oid) = "public-key.algorithm":
        "the subject key has the algorithm or curve {0}; RSA, P-256, P-384, P-521 and Ed25519 \
         can pass";
    PublicKeyParameters = "public-key.parameters":
        "the parameters of the subject key's algorithm are not those of RFC 3279, 5480 or 8410";
    PublicKeyPoint = "public-key.point":
        "the subject key is no uncompressed point on its curve, or one of small order";
    RsaSize(u32) = "public-key.rsa-size":
        "the subject key's modulus has {0} bits; 2048 to 8192 can pass";
    RsaModulus = "public-key.rsa-modulus":
        "the subject key's modulus is even or not positive; a product of two large primes passes";
    RsaExponent = "public-key.rsa-exponent":
        "the subject key's exponent is unsound; an odd one from 65537 to 2^32 passes";
    PublicKeyNotAllowed(&'static str) = "public-key.not-allowed":
        "policy does not allow subject keys of the kind {0}";
    SmallFactor(u32) = "public-key.small-factor":
        "the subject key is weak: its modulus can be divided by {0}; make a new key";
    Roca = "public-key.roca":
        "the subject key is weak: it has the mark of CVE-2017-15361 (ROCA); make a new key \
         elsewhere";
    ClosePrimes = "public-key.close-primes":
        "the subject key is weak: its primes lie so close that it can be factored; make a new key";
    CaKey = "public-key.ca-key":
        "the subject key is a CA key of this signer; a key of the subject's own passes";

    CsrMissing = "csr.missing":
        "there is no CSR, so no proof that the requester holds the key; send the CSR";
    CsrTooLong(usize) = "csr.size":
        "the CSR has {0} bytes; at most 49152 (48 KiB) pass";
    CsrMalformed(CsrError) = "csr.malformed":
        "the CSR is not well-formed: {0}";
    CsrKey = "csr.key":
        "the CSR is for another key; its SubjectPublicKeyInfo must be the TBS's, byte for byte";
    CsrPossession(SignatureError) = "csr.possession":
        "the CSR does not prove possession of the key: {0}";

    CaCertificate = "usage.ca":
        "basicConstraints says that the subject is a CA; absent or CA false passes";
    PathLengthWithoutCa = "usage.path-length":
        "basicConstraints has a path length although the subject is no CA";
    KeyUsageAbsent = "usage.key-usage-absent":
        "there is no keyUsage; one that says what the key is for passes";
    CaKeyUsage = "usage.ca-key-usage":
        "keyUsage has keyCertSign or cRLSign; without them it passes";
    ExtendedKeyUsageAbsent = "usage.extended-key-usage-absent":
        "there is no extKeyUsage, which means every purpose; one that policy allows passes";
    AnyExtendedKeyUsage = "usage.any-extended-key-usage":
        "extKeyUsage has anyExtendedKeyUsage, which is never allowed";
    OcspSigning = "usage.ocsp-signing":
        "extKeyUsage has OCSPSigning; no key of this signer is made for that role";
    ExtendedKeyUsageNotAllowed(Oid) = "usage.extended-key-usage-not-allowed":
        "extKeyUsage has {0}, which policy does not allow";

    AuthorityKeyIdentifierAbsent = "key-identifier.authority-absent":
        "there is no authorityKeyIdentifier; one with the CA's subjectKeyIdentifier passes";
    AuthorityKeyIdentifierForm = "key-identifier.authority-form":
        "authorityKeyIdentifier must have keyIdentifier and nothing else";
    AuthorityKeyIdentifier = "key-identifier.authority":
        "authorityKeyIdentifier is not the CA's subjectKeyIdentifier";
    SubjectKeyIdentifier = "key-identifier.subject":
        "subjectKeyIdentifier is not of this key; SHA-1 over the key bits (RFC 5280, section \
         4.2.1.2) or the first 20 bytes of their SHA-256 (RFC 7093) pass";

    NameMalformed = "names.malformed":
        "a distinguished name can't be read";
    EmptyRdn = "names.empty-rdn":
        "a distinguished name has an RDN without attributes";
    DuplicateAttribute(Oid) = "names.duplicate-attribute":
        "an RDN has the attribute {0} twice; each passes once in an RDN";
    StringType(Oid) = "names.string-type":
        "the attribute {0} of a distinguished name has a string type, or characters in it, that \
         RFC 5280 does not allow there";
    Characters(Oid) = "names.characters":
        "the attribute {0} of a distinguished name has control characters or ones that hide or \
         reorder others";
    AttributeLength(Oid, usize) = "names.length":
        "the attribute {0} of a distinguished name is empty or too long; 1 to {1} characters pass";
    Country = "names.country":
        "a country is not two letters (ISO 3166)";
    NoAlternativeNames = "names.san-empty":
        "subjectAltName has no names; at least one, or no such extension, passes";
    AlternativeNameRequired = "names.san-required":
        "there is no subjectAltName, which policy requires";
    NameTypeNotAllowed(&'static str) = "names.type-not-allowed":
        "policy does not allow names of the kind {0}, in subjectAltName or as common name";
    NameTypeUnknown = "names.type-unknown":
        "subjectAltName has an x400Address or ediPartyName, which are never allowed";
    DnsName(String) = "names.dns":
        "{0:?} is no host name: labels of 1 to 63 letters, digits, hyphens or underscores, 253 \
         characters in all, no dot at an end, no IP address";
    WildcardForm(String) = "names.wildcard-form":
        "{0:?} has a wildcard that is not its whole left-most label above a host name without \
         underscores";
    WildcardNotAllowed(String) = "names.wildcard-not-allowed":
        "{0:?} has a wildcard, which policy does not allow";
    ALabel(String) = "names.a-label":
        "{0:?} has a label xn-- that stands for no internationalised label (RFC 5891)";
    IpAddress(usize) = "names.ip":
        "an iPAddress has {0} octets; 4 or 16 pass";
    Email(String) = "names.email":
        "{0:?} is no e-mail address of the form local@host in ASCII (RFC 5280, section 4.2.1.6)";
    Uri(String) = "names.uri":
        "{0:?} is no absolute URI in ASCII with a whole host, where it has one (RFC 3986)";
    OtherName(Oid) = "names.other-name":
        "the value of an otherName {0} is not what its type demands";
    Domain(String) = "names.domain":
        "{0:?} lies outside the domains that policy allows; a name within them passes";
    NearlyHost(String) = "names.nearly-host":
        "the common name {0:?} is no host name but may be taken for one, and policy allows certain \
         domains only; a host name within them, in A-labels, or a name without dots, all of it visible, passes";

    NotPermitted(String) = "name-constraints.permitted":
        "{0:?} lies outside what the CA's name constraints permit; a name within them passes";
    Excluded(String) = "name-constraints.excluded":
        "{0:?} lies within what the CA's name constraints exclude; a name outside them passes";
    NearlyHostConstrained(String) = "name-constraints.nearly-host":
        "the common name {0:?} is no host name but may be taken for one, and the CA's name \
         constraints speak of such names; leave it out or write a name without dots";
    CommonNameConstrained(String) = "name-constraints.common-name":
        "the common name {0:?} is read as a host outside the CA's name constraints where no dNSName \
         stands beside it; leave the CN out or add a DNS name";
    ConstraintNotUnderstood(String) = "name-constraints.not-understood":
        "the CA's name constraints speak of names like {0:?} in a way that can't be judged";

    ExtensionUnknown(Oid) = "extensions.unknown":
        "the extension {0} is neither known nor allowed by policy";
    ExtensionOfCas(Oid) = "extensions.ca-only":
        "the extension {0} belongs into CA certificates only";
    ExtensionMalformed(Oid) = "extensions.malformed":
        "the value of the extension {0} is not the DER that its type demands";
    ExtensionContent(Oid) = "extensions.content":
        "the extension {0} has content that this signer does not sign (RFC 5280, section 4.2)";

    MayNotCertifyCas = "ca.not-allowed":
        "policy does not let this key certify CAs";
    NotACa = "ca.basic-constraints":
        "basicConstraints is absent or says that the subject is no CA; CA true passes";
    CaKeyUsageMissing = "ca.key-usage":
        "keyUsage of a CA must have keyCertSign and cRLSign, and beside them at most \
         digitalSignature and nonRepudiation";
    IssuerPathLength = "ca.issuer-path-length":
        "the CA's own path length is 0, so it can't certify CAs";
    PathLength(u8) = "ca.path-length":
        "the path length does not shrink below the CA's own; at most {0} passes";
    PathLengthOfPolicy(u8) = "ca.path-length-policy":
        "the path length is more than policy allows; at most {0} passes";
    CaSubjectEmpty = "ca.subject-empty":
        "a CA certificate has an empty subject; a name passes (RFC 5280, section 4.1.2.6)";
    OwnSubject = "ca.own-subject":
        "the subject of a self-signed certificate is not its issuer; the same bytes pass";
    OwnKey = "ca.own-key":
        "a self-signed certificate is for another key; exactly the signing key passes";
    SelfIssued = "ca.self-issued":
        "the CA would certify its own name or key; another name and key pass";
    ConstraintsOfCa = "ca.name-constraints":
        "nameConstraints is not well-formed: subtrees of DNS names, addresses with a contiguous \
         mask, e-mail, URI hosts and directory names pass";

    ChainLength(usize) = "chain.length":
        "the chain has {0} certificates; 1 to 8 pass";
    CertificateMalformed = "chain.malformed":
        "a certificate of the chain can't be read";
    ChainKey = "chain.key":
        "the first certificate of the chain is for another key";
    ChainNotACa = "chain.not-a-ca":
        "a certificate of the chain is not that of a CA that may sign certificates";
    ChainCriticalExtension(Oid) = "chain.critical-extension":
        "a certificate of the chain has the critical extension {0}, which is not understood";
    ChainIssuer = "chain.issuer":
        "a certificate of the chain does not name the next as its issuer";
    ChainSignature(SignatureError) = "chain.signature":
        "the signature of a certificate of the chain does not count: {0}";
    ChainValidity = "chain.validity":
        "a certificate of the chain is not valid yet, or no longer";
    ChainPathLength = "chain.path-length":
        "a certificate of the chain has more CAs below it than its path length allows";
    ChainAnchor = "chain.anchor":
        "the chain does not end at an anchor of signer.toml; add the root, or send its whole chain";

    LintUtcTime = "lint.utctime-until-2049":
        "a time is encoded as RFC 5280, section 4.1.2.5, does not have it: UTCTime to 2049, \
         GeneralizedTime from 2050";
    LintUniqueIds = "lint.unique-ids-absent":
        "there is an issuerUniqueID or subjectUniqueID (RFC 5280, section 4.1.2.8)";
    LintCriticality(Oid) = "lint.criticality":
        "the extension {0} is critical where RFC 5280 wants it not to be, or the reverse";
    LintSubjectKeyIdentifier = "lint.ski-present":
        "there is no subjectKeyIdentifier (RFC 5280, section 4.2.1.2)";
    LintEmptySubject = "lint.empty-subject-needs-critical-san":
        "the subject is empty, so subjectAltName must be there and critical (RFC 5280, section \
         4.2.1.6)";
    LintKeyUsageForKey = "lint.ku-fits-key-type":
        "keyUsage has a bit that keys of this type can't serve (RFC 3279, 5480 and 8410)";
    LintKeyUsageForPurpose(Oid) = "lint.ku-fits-eku":
        "keyUsage has no bit that the purpose {0} needs (RFC 5280, section 4.2.1.12)";
    LintEncipherOnly = "lint.ku-encipher-only":
        "keyUsage has encipherOnly or decipherOnly without keyAgreement (RFC 5280, section \
         4.2.1.3)";
    LintTimeStamping = "lint.time-stamping-alone":
        "timeStamping must be the only purpose, and critical (RFC 3161, section 2.3)";
    LintDuplicatePurpose(Oid) = "lint.eku-unique":
        "extKeyUsage has {0} twice";
    LintDuplicatePolicy(Oid) = "lint.policy-unique":
        "certificatePolicies has {0} twice (RFC 5280, section 4.2.1.4)";
}
