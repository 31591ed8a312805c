//! Every rule of the policy: its stable id, where it comes from, and the sentence that a refusal says.
//!
//! Ids are never renamed and never reused: clients, tests and the journal know them.

use chancery_shared::csr::CsrError;
use chancery_shared::signature::SignatureError;
use der::asn1::ObjectIdentifier;
use time::OffsetDateTime;

use super::rule::rules;

type Oid = ObjectIdentifier;

rules! {
    NoCaCertificate = "key.ca-certificate" ("this signer"):
        "the key has no CA certificate yet and so no name to issue under; install one first";

    TooLong(usize) = "tbs.size" ("this signer"):
        "the TBS has {0} bytes; at most 49152 (48 KiB) pass";
    NotDer(der::Error) = "tbs.der" ("X.690, 8 to 10; RFC 5280, 4.1"):
        "this is not the DER of a TBSCertificate: {0}";
    TrailingBytes = "tbs.trailing-bytes" ("RFC 5280, 4.1"):
        "bytes follow the TBSCertificate; only the TBSCertificate itself passes";
    NotCanonical = "tbs.canonical" ("X.690, 11.5"):
        "the TBSCertificate is not encoded as DER demands (a DEFAULT written out, for example); \
         only the bytes that encoding it anew gives pass";
    NotVersion3 = "tbs.version" ("RFC 5280, 4.1.2.1"):
        "the version is not v3; only v3 (2) passes";
    DuplicateExtension(Oid) = "tbs.duplicate-extension" ("RFC 5280, 4.2"):
        "the extension {0} stands there twice; each passes once";
    IssuerName = "tbs.issuer" ("RFC 5280, 4.1.2.4 and 7.1"):
        "the issuer is not the CA certificate's subject; exactly its bytes pass";
    SignatureAlgorithm = "tbs.signature-algorithm" ("RFC 5280, 4.1.1.2 and 4.1.2.3"):
        "the signature field is not the AlgorithmIdentifier of this key; exactly its bytes pass";

    SerialForm = "serial.form" ("RFC 5280, 4.1.2.2"):
        "the serial number is not a positive INTEGER of 20 octets";
    SerialConstruction = "serial.construction" ("this signer"):
        "the serial number is not the one that its nonce and this TBS give";
    NonceOfAnotherConnection = "serial.nonce-connection" ("this signer"):
        "the serial nonce is not of this connection; it begins with the nonce that hello answered";
    NonceUsed = "serial.nonce-used" ("this signer"):
        "the counter of the serial nonce was used before; a higher one passes";
    NonceTooOld = "serial.nonce-too-old" ("this signer"):
        "the counter of the serial nonce lies more than 4096 behind the highest; a higher one \
         passes";

    NotBeforeTooEarly(OffsetDateTime) = "validity.not-before-too-early" ("policy"):
        "notBefore lies further back than policy allows; {0} or later passes";
    NotBeforeInFuture(OffsetDateTime) = "validity.not-before-in-future" ("this signer"):
        "notBefore lies in the future; {0} or earlier passes";
    NotAfterFirst = "validity.order" ("RFC 5280, 4.1.2.5"):
        "notAfter does not lie behind notBefore";
    AlreadyOver = "validity.already-over" ("this signer"):
        "notAfter has passed already; a later one passes";
    ValidityTooLong(u32) = "validity.too-long" ("policy"):
        "the validity is longer than policy allows; {0} days pass, the last second included";
    BeyondIssuer(OffsetDateTime) = "validity.beyond-issuer" ("RFC 5280, 6.1.3 (a) (2)"):
        "notAfter lies behind the CA certificate's own end; {0} or earlier passes";

    PublicKeyMalformed = "public-key.malformed" ("RFC 5280, 4.1.2.7"):
        "the subject public key can't be read as a key of its algorithm";
    PublicKeyAlgorithm(Oid) = "public-key.algorithm" ("policy"):
        "the subject key has the algorithm or curve {0}; RSA, P-256, P-384, P-521 and Ed25519 \
         can pass";
    PublicKeyParameters = "public-key.parameters" ("RFC 3279, 2.3.1; RFC 5480, 2; RFC 8410, 3"):
        "the parameters of the subject key's algorithm are not those of RFC 3279, 5480 or 8410";
    PublicKeyPoint = "public-key.point" ("RFC 5480, 2.2; RFC 8032, 5.1"):
        "the subject key is no uncompressed point on its curve, or one of small order";
    RsaSize(u32) = "public-key.rsa-size" ("policy"):
        "the subject key's modulus has {0} bits; 2048 to 8192 can pass";
    RsaModulus = "public-key.rsa-modulus" ("FIPS 186-5, 5.1"):
        "the subject key's modulus is even or not positive; a product of two large primes passes";
    RsaExponent = "public-key.rsa-exponent" ("FIPS 186-5, 5.1"):
        "the subject key's exponent is unsound; an odd one from 65537 to 2^32 passes";
    PublicKeyNotAllowed(&'static str) = "public-key.not-allowed" ("policy"):
        "policy does not allow subject keys of the kind {0}";
    SmallFactor(u32) = "public-key.small-factor" ("FIPS 186-5, 5.1"):
        "the subject key is weak: its modulus can be divided by {0}; make a new key";
    Roca = "public-key.roca" ("CVE-2017-15361"):
        "the subject key is weak: it has the mark of CVE-2017-15361 (ROCA); make a new key \
         elsewhere";
    ClosePrimes = "public-key.close-primes" ("FIPS 186-5, A.1.1"):
        "the subject key is weak: its primes lie so close that it can be factored; make a new key";
    KnownKey = "public-key.known" ("this signer"):
        "the subject key is one that others have, published or on the operator's list; make a new one";
    CaKey = "public-key.ca-key" ("this signer"):
        "the subject key is a CA key of this signer; a key of the subject's own passes";

    CsrMissing = "csr.missing" ("this signer"):
        "there is no CSR, so no proof that the requester holds the key; send the CSR";
    CsrTooLong(usize) = "csr.size" ("this signer"):
        "the CSR has {0} bytes; at most 49152 (48 KiB) pass";
    CsrMalformed(CsrError) = "csr.malformed" ("RFC 2986, 4"):
        "the CSR is not well-formed: {0}";
    CsrKey = "csr.key" ("RFC 2986, 3"):
        "the CSR is for another key; its SubjectPublicKeyInfo must be the TBS's, byte for byte";
    CsrPossession(SignatureError) = "csr.possession" ("RFC 2986, 3"):
        "the CSR does not prove possession of the key: {0}";

    CaCertificate = "usage.ca" ("RFC 5280, 4.2.1.9"):
        "basicConstraints says that the subject is a CA; absent or CA false passes";
    PathLengthWithoutCa = "usage.path-length" ("RFC 5280, 4.2.1.9"):
        "basicConstraints has a path length although the subject is no CA";
    KeyUsageAbsent = "usage.key-usage-absent" ("this signer"):
        "there is no keyUsage; one that says what the key is for passes";
    KeyUsageForm = "usage.key-usage-form" ("RFC 5280, 4.2.1.3; X.690, 11.2.2"):
        "keyUsage has no bit, zeros behind its last one, or a bit that is not defined";
    CaKeyUsage = "usage.ca-key-usage" ("RFC 5280, 4.2.1.3 and 4.2.1.9"):
        "keyUsage has keyCertSign or cRLSign; without them it passes";
    ExtendedKeyUsageAbsent = "usage.extended-key-usage-absent" ("this signer"):
        "there is no extKeyUsage, which means every purpose; one that policy allows passes";
    ExtendedKeyUsageEmpty = "usage.extended-key-usage-empty" ("RFC 5280, 4.2.1.12"):
        "extKeyUsage has no purpose; at least one that policy allows passes";
    AnyExtendedKeyUsage = "usage.any-extended-key-usage" ("this signer"):
        "extKeyUsage has anyExtendedKeyUsage, which is never allowed";
    OcspSigning = "usage.ocsp-signing" ("RFC 6960, 4.2.2.2"):
        "extKeyUsage has OCSPSigning; no key of this signer is made for that role";
    ExtendedKeyUsageNotAllowed(Oid) = "usage.extended-key-usage-not-allowed" ("policy"):
        "extKeyUsage has {0}, which policy does not allow";

    AuthorityKeyIdentifierAbsent = "key-identifier.authority-absent" ("RFC 5280, 4.2.1.1"):
        "there is no authorityKeyIdentifier; one with the CA's subjectKeyIdentifier passes";
    AuthorityKeyIdentifierForm = "key-identifier.authority-form" ("RFC 5280, 4.2.1.1"):
        "authorityKeyIdentifier must have keyIdentifier and nothing else";
    AuthorityKeyIdentifier = "key-identifier.authority" ("RFC 5280, 4.2.1.1"):
        "authorityKeyIdentifier is not the CA's subjectKeyIdentifier";
    SubjectKeyIdentifier = "key-identifier.subject" ("RFC 5280, 4.2.1.2; RFC 7093, 2"):
        "subjectKeyIdentifier is neither SHA-1 of the key bits nor 20 bytes of their SHA-256";

    NameMalformed = "names.malformed" ("RFC 5280, 4.1.2.4"):
        "a distinguished name can't be read";
    EmptyRdn = "names.empty-rdn" ("RFC 5280, 4.1.2.4"):
        "a distinguished name has an RDN without attributes";
    DuplicateAttribute(Oid) = "names.duplicate-attribute" ("X.501, 9.3"):
        "an RDN has the attribute {0} twice; each passes once in an RDN";
    StringType(Oid) = "names.string-type" ("RFC 5280, 4.1.2.4 and A.1"):
        "the attribute {0} of a distinguished name has a string type, or characters in it, that \
         RFC 5280 does not allow there";
    Characters(Oid) = "names.characters" ("this signer"):
        "the attribute {0} of a distinguished name has control characters or ones that hide or \
         reorder others";
    AttributeLength(Oid, usize) = "names.length" ("RFC 5280, A.1; X.520"):
        "the attribute {0} of a distinguished name is empty or too long; 1 to {1} characters pass";
    Country = "names.country" ("RFC 5280, A.1"):
        "a country is not two letters (ISO 3166)";
    DomainComponent(String) = "names.domain-component" ("RFC 4519, 2.4; RFC 5280, 4.1.2.4"):
        "the domainComponent {0:?} is no label of a host name: 1 to 63 letters, digits, hyphens or \
         underscores, no hyphen at an end";
    NoAlternativeNames = "names.san-empty" ("RFC 5280, 4.2.1.6"):
        "subjectAltName has no names; at least one, or no such extension, passes";
    AlternativeNameRequired = "names.san-required" ("policy"):
        "there is no subjectAltName, which policy requires";
    NameTypeNotAllowed(&'static str) = "names.type-not-allowed" ("policy"):
        "policy does not allow names of the kind {0}, in subjectAltName or as common name";
    NameTypeUnknown = "names.type-unknown" ("this signer"):
        "subjectAltName has an x400Address or ediPartyName, which are never allowed";
    DnsName(String) = "names.dns" ("RFC 5280, 4.2.1.6; RFC 1123, 2.1"):
        "{0:?} is no host name: labels of 1 to 63 letters, digits, hyphens or underscores, 253 \
         characters in all, no dot at an end, no IP address";
    WildcardForm(String) = "names.wildcard-form" ("RFC 9525, 6.3"):
        "{0:?} has a wildcard that is not its whole left-most label above a host name without \
         underscores";
    WildcardNotAllowed(String) = "names.wildcard-not-allowed" ("policy"):
        "{0:?} has a wildcard, which policy does not allow";
    ALabel(String) = "names.a-label" ("RFC 9549, 2.1; RFC 5891"):
        "{0:?} has a label xn-- that stands for no internationalised label";
    IpAddress(usize) = "names.ip" ("RFC 5280, 4.2.1.6"):
        "an iPAddress has {0} octets; 4 or 16 pass";
    Email(String) = "names.email" ("RFC 5280, 4.2.1.6"):
        "{0:?} is no e-mail address of the form local@host in ASCII";
    Uri(String) = "names.uri" ("RFC 5280, 4.2.1.6; RFC 3986"):
        "{0:?} is no absolute URI in ASCII with a whole host, where it has one";
    OtherName(Oid) = "names.other-name" ("RFC 4985, 2; RFC 9598, 3"):
        "the value of an otherName {0} is not what its type demands";
    Domain(String) = "names.domain" ("policy"):
        "{0:?} lies outside the domains that policy allows; a name within them passes";
    NearlyHost(String) = "names.nearly-host" ("policy"):
        "the common name {0:?} is no host name but may be taken for one, and policy allows certain \
         domains only; a host name within them, in A-labels, or a name without dots, all of it \
         visible, passes";

    NotPermitted(String) = "name-constraints.permitted" ("RFC 5280, 4.2.1.10"):
        "{0:?} lies outside what the CA's name constraints permit; a name within them passes";
    Excluded(String) = "name-constraints.excluded" ("RFC 5280, 4.2.1.10"):
        "{0:?} lies within what the CA's name constraints exclude; a name outside them passes";
    NearlyHostConstrained(String) = "name-constraints.nearly-host" ("this signer"):
        "the common name {0:?} is no host name but may be taken for one, and the CA's name \
         constraints speak of such names; leave it out or write a name without dots";
    CommonNameConstrained(String) = "name-constraints.common-name" ("this signer"):
        "the common name {0:?} is read as a host outside the CA's name constraints where no dNSName \
         stands beside it; leave the CN out or add a DNS name";
    ConstraintNotUnderstood(String) = "name-constraints.not-understood" ("RFC 5280, 4.2.1.10"):
        "the CA's name constraints speak of names like {0:?} in a way that can't be judged";

    ExtensionUnknown(Oid) = "extensions.unknown" ("policy"):
        "the extension {0} is neither known nor allowed by policy";
    ExtensionOfCas(Oid) = "extensions.ca-only" ("RFC 5280, 4.2.1.5, .10, .11 and .14"):
        "the extension {0} belongs into CA certificates only";
    ExtensionMalformed(Oid) = "extensions.malformed" ("RFC 5280, 4.2"):
        "the value of the extension {0} is not the DER that its type demands";
    PoliciesEmpty = "extensions.policies-empty" ("RFC 5280, 4.2.1.4"):
        "certificatePolicies has no policy; at least one, or no such extension, passes";
    PolicyQualifier = "extensions.policy-qualifier" ("RFC 5280, 4.2.1.4"):
        "certificatePolicies has a list of no qualifiers, or one that is no CPS and no user notice";
    CpsUri = "extensions.cps-uri" ("RFC 5280, 4.2.1.4"):
        "the CPS of a policy is not an absolute URI as IA5String";
    UserNotice = "extensions.user-notice" ("RFC 5280, 4.2.1.4; RFC 6818, 3"):
        "a user notice is no explicitText alone: UTF8String or IA5String, 1 to 200 characters, all seen";
    DistributionPoint = "extensions.distribution-point" ("RFC 5280, 4.2.1.13"):
        "cRLDistributionPoints has none, or one that is not http, https, ldap or ldaps URIs alone";
    InformationAccess = "extensions.information-access" ("RFC 5280, 4.2.2.1"):
        "authorityInfoAccess has none, or one that is not the http, https, ldap or ldaps URI of an \
         OCSP responder or of CA certificates";
    LdapLocation(String) = "extensions.ldap-location" ("RFC 5280, 4.2.1.13 and 4.2.2.1"):
        "{0:?} has no name of an entry, or no attribute, or for CRLs more than one; \
         ldap://host/dn?attribute passes";
    TlsFeature = "extensions.tls-feature" ("RFC 7633, 4.1"):
        "the TLS feature extension has no feature; at least one, or no such extension, passes";
    PolicyConstraints = "extensions.policy-constraints" ("RFC 5280, 4.2.1.11"):
        "policyConstraints has neither requireExplicitPolicy nor inhibitPolicyMapping";
    PolicyMappings = "extensions.policy-mappings" ("RFC 5280, 4.2.1.5"):
        "policyMappings has no mapping, or one from or to anyPolicy";
    CriticalInCa(Oid) = "extensions.critical-in-ca" ("RFC 5280, 4.2 and 6.1.4 (o)"):
        "the extension {0} is critical, which no one takes into account in a CA certificate";

    MayNotCertifyCas = "ca.not-allowed" ("policy"):
        "policy does not let this key certify CAs";
    NotACa = "ca.basic-constraints" ("RFC 5280, 4.2.1.9"):
        "basicConstraints is absent or says that the subject is no CA; CA true passes";
    CaKeyUsageMissing = "ca.key-usage" ("RFC 5280, 4.2.1.3"):
        "keyUsage of a CA must have keyCertSign and cRLSign, and beside them at most \
         digitalSignature and nonRepudiation";
    IssuerPathLength = "ca.issuer-path-length" ("RFC 5280, 4.2.1.9"):
        "the CA's own path length is 0, so it can't certify CAs";
    PathLength(u8) = "ca.path-length" ("RFC 5280, 4.2.1.9"):
        "the path length does not shrink below the CA's own; at most {0} passes";
    PathLengthOfPolicy(u8) = "ca.path-length-policy" ("policy"):
        "the path length is more than policy allows; at most {0} passes";
    CaSubjectEmpty = "ca.subject-empty" ("RFC 5280, 4.1.2.6"):
        "a CA certificate has an empty subject; a name passes";
    OwnSubject = "ca.own-subject" ("RFC 5280, 3.2"):
        "the subject of a self-signed certificate is not its issuer; the same bytes pass";
    OwnKey = "ca.own-key" ("RFC 5280, 3.2"):
        "a self-signed certificate is for another key; exactly the signing key passes";
    SelfIssued = "ca.self-issued" ("this signer"):
        "the CA would certify its own name or key; another name and key pass";
    ConstraintsOfCa = "ca.name-constraints" ("RFC 5280, 4.2.1.10"):
        "nameConstraints is not well-formed: subtrees of DNS names, addresses with a contiguous \
         mask, e-mail, URI hosts and directory names pass";

    ChainLength(usize) = "chain.length" ("this signer"):
        "the chain has {0} certificates; 1 to 8 pass";
    CertificateMalformed = "chain.malformed" ("RFC 5280, 4.1"):
        "a certificate of the chain can't be read";
    ChainKey = "chain.key" ("RFC 5280, 6.1"):
        "the first certificate of the chain is for another key";
    ChainNotACa = "chain.not-a-ca" ("RFC 5280, 6.1.4 (k) and (n)"):
        "a certificate of the chain is not that of a CA that may sign certificates";
    ChainCriticalExtension(Oid) = "chain.critical-extension" ("RFC 5280, 6.1.4 (o)"):
        "a certificate of the chain has the critical extension {0}, which is not understood";
    ChainIssuer = "chain.issuer" ("RFC 5280, 6.1.3 (a) (4)"):
        "a certificate of the chain does not name the next as its issuer";
    ChainSignature(SignatureError) = "chain.signature" ("RFC 5280, 6.1.3 (a) (1)"):
        "the signature of a certificate of the chain does not count: {0}";
    ChainValidity = "chain.validity" ("RFC 5280, 6.1.3 (a) (2)"):
        "a certificate of the chain is not valid yet, or no longer";
    ChainPathLength = "chain.path-length" ("RFC 5280, 6.1.4 (l)"):
        "a certificate of the chain has more CAs below it than its path length allows";
    ChainAnchor = "chain.anchor" ("policy"):
        "the chain does not end at an anchor of signer.toml; add the root, or send its whole chain";

    LintIssuerEmpty = "lint.issuer-present" ("RFC 5280, 4.1.2.4"):
        "the issuer is empty; under a CA certificate with a name it passes";
    LintUtcTime = "lint.utctime-until-2049" ("RFC 5280, 4.1.2.5"):
        "a time is not encoded as UTCTime to 2049 and GeneralizedTime from 2050";
    LintUniqueIds = "lint.unique-ids-absent" ("RFC 5280, 4.1.2.8"):
        "there is an issuerUniqueID or subjectUniqueID; without them it passes";
    LintCriticality(Oid) = "lint.criticality" ("RFC 5280, 4.2"):
        "the extension {0} is critical where RFC 5280 wants it not to be, or the reverse";
    LintSubjectKeyIdentifier = "lint.ski-present" ("RFC 5280, 4.2.1.2"):
        "there is no subjectKeyIdentifier; one of the certified key passes";
    LintEmptySubject = "lint.empty-subject-needs-critical-san" ("RFC 5280, 4.1.2.6"):
        "the subject is empty, so subjectAltName must be there and critical";
    LintKeyUsageForKey = "lint.ku-fits-key-type" ("RFC 3279, 2.3.1; RFC 5480, 3; RFC 9295"):
        "keyUsage has a bit that keys of this type can't serve";
    LintKeyUsageForPurpose(Oid) = "lint.ku-fits-eku" ("RFC 5280, 4.2.1.12"):
        "keyUsage has no bit that the purpose {0} needs";
    LintEncipherOnly = "lint.ku-encipher-only" ("RFC 5280, 4.2.1.3"):
        "keyUsage has encipherOnly or decipherOnly without keyAgreement";
    LintOneDirection = "lint.ku-one-direction" ("RFC 3279, 2.3.5; RFC 5480, 3"):
        "keyUsage has both encipherOnly and decipherOnly; one of them passes";
    LintTimeStamping = "lint.time-stamping-alone" ("RFC 3161, 2.3"):
        "timeStamping must be the only purpose, and critical";
    LintDuplicatePurpose(Oid) = "lint.eku-unique" ("RFC 5280, 4.2.1.12"):
        "extKeyUsage has {0} twice; each purpose passes once";
    LintDuplicatePolicy(Oid) = "lint.policy-unique" ("RFC 5280, 4.2.1.4"):
        "certificatePolicies has {0} twice; each policy passes once";
}
