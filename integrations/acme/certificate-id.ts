// Makes the name of a certificate in a question about its renewal. RFC 9773 section 4.1.
import { AuthorityKeyIdentifierExtension, X509Certificate } from '@peculiar/x509'

/** @param chain PEM, the certificate first. null: it has none, or cannot be read */
export function certificateId(chain: string): string | null {
  try {
    const certificate = new X509Certificate(chain)
    const { keyId } = certificate.getExtension(AuthorityKeyIdentifierExtension) ?? {}
    if (keyId === undefined) return null
    const serial = Buffer.from(certificate.serialNumber, 'hex')
    // As in the certificate: a number that begins with a one bit has an octet of zero before it.
    const octets = serial[0]! >= 0x80 ? Buffer.concat([Buffer.of(0), serial]) : serial
    return `${Buffer.from(keyId, 'hex').toString('base64url')}.${octets.toString('base64url')}`
  } catch {
    return null
  }
}
