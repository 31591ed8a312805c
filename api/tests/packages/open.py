"""Opens a PKCS#12 file with the password in P12, signs with its key, verifies with its certificate."""
import os
import sys

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

bundle = load_pkcs12(open(sys.argv[1], "rb").read(), os.environ["P12"].encode())
key, public = bundle.key, bundle.cert.certificate.public_key()
text = b"signed with the private key"
if isinstance(key, rsa.RSAPrivateKey):
    how = (padding.PKCS1v15(), hashes.SHA256())
elif isinstance(key, ec.EllipticCurvePrivateKey):
    how = (ec.ECDSA(hashes.SHA256()),)
else:
    assert isinstance(key, ed25519.Ed25519PrivateKey)
    how = ()
public.verify(key.sign(text, *how), text, *how)
issuer = bundle.additional_certs[0].certificate
bundle.cert.certificate.verify_directly_issued_by(issuer)
issuer.verify_directly_issued_by(bundle.additional_certs[1].certificate)
print(bundle.cert.friendly_name.decode(), len(bundle.additional_certs))
