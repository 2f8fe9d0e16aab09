// The media type of external-dns' webhook protocol, and its one version.

/** Compared by external-dns octet by octet. */
export const mediaType = 'application/external.dns.webhook+json;version=1'

/** As Content-Type of a body. */
export const mediaTypeForm =
  /^application\/external\.dns\.webhook\+json\s*;\s*version\s*=\s*"?1"?\s*(;|$)/i

/** @param accept what the client takes; undefined: anything */
export function isAcceptable(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === '') return true
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    if (parameters.some((one) => /^q\s*=\s*0(\.0*)?$/.test(one))) return false
    if (type === '*/*' || type === 'application/*') return true
    const versions = parameters.filter((one) => /^version\s*=/.test(one))
    const isOurs = type === 'application/external.dns.webhook+json'
    return isOurs && versions.every((one) => /^version\s*=\s*"?1"?$/.test(one))
  })
}

export const notAcceptable =
  `this server speaks version 1 of the protocol alone: ask for ${mediaType} in Accept, ` +
  'or leave the header out'
