// Explains why a probe failed: codes of the system, of TLS and of the HTTP parser in words.
import { isIPv6 } from 'node:net'

const reasons: Readonly<Record<string, string>> = Object.freeze({
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'network unreachable',
  EACCES: 'connection forbidden by this host',
  EPERM: 'connection forbidden by this host',
  EMFILE: 'this node has no file descriptor left',
  ENFILE: 'this node has no file descriptor left',
  EADDRNOTAVAIL: 'this node has no local address or port to probe from',
  ENOBUFS: 'this node has no buffer space left',
  ENOMEM: 'this node has no memory left',
  ENOTFOUND: 'the name in webhookURL has no address',
  EAI_AGAIN: 'the name in webhookURL cannot be looked up now',
  HPE_HEADER_OVERFLOW: 'the response headers are too long',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate chain ends in an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate is from an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'the certificate is from an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate is from an unknown authority',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the backend does not speak TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the backend does not speak TLS',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'the backend wants a client certificate',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'the backend does not trust the client certificate',
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: 'the backend does not trust the client certificate',
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
    'the backend does not speak the protocol of the check',
  ERR_HTTP2_ERROR: 'the backend does not speak HTTP/2',
})

const localCodes: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'EADDRNOTAVAIL',
  'ENOBUFS',
  'ENOMEM',
])

/** True when this node, not the backend, is at fault. */
export function isLocalError(error: Error): boolean {
  const code = codeOf(error)
  // A host without IPv6 reports "no address" for every IPv6 member, which it cannot reach.
  const { address = '' } = error as NodeJS.ErrnoException & { address?: string }
  if (code === 'EADDRNOTAVAIL' && isIPv6(address)) return false
  return localCodes.has(code)
}

/** Never the error's message, which may quote the backend. */
export function reasonOf(error: Error): string {
  const code = codeOf(error)
  // node:http gives an orderly close and a reset the same code.
  if (error.message === 'socket hang up') return 'connection closed before a response'
  if (error.message === 'aborted') return 'connection closed inside the body'
  const known = reasons[code]
  if (known !== undefined) return known
  if (code.startsWith('HPE_')) return 'the response is not HTTP'
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) return `TLS failed (${code})`
  if (code.startsWith('ERR_HTTP2_')) return `HTTP/2 failed (${code})`
  return code === '' ? 'the connection failed' : `the connection failed (${code})`
}

function codeOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' ? code : ''
}
