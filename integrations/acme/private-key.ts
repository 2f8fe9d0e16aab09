// Private keys of accounts and certificates.
import { generateKeyPairSync } from 'node:crypto'

/** P-256, PEM: all clients know it, and a handshake costs a tenth of one with RSA. */
export function newPrivateKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}
