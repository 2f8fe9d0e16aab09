// Parses the target of a redirect: its host, and the octets for the header.
import { withoutFinalDot } from '#dns/final-dot.ts'

/** Requires a complete scheme: a URL parser would also take `http:example.com`. */
export function absoluteUrl(text: string): URL | undefined {
  return /^https?:\/\/[^/]/i.test(text) ? (URL.parse(text) ?? undefined) : undefined
}

/**
 * The host of a plain http address without a port, lower case with a trailing dot; undefined for
 * any other. An https address of the same host is no loop: redirects are mostly asked over http.
 */
export function plainHostOf(target: string): string | undefined {
  const url = absoluteUrl(target)
  if (url?.protocol !== 'http:' || url.port !== '') return undefined
  return `${url.hostname.replace(/\.$/, '')}.`
}

/** The host name of an http or https target without a port, with its final dot. */
export function hostOf(target: string): string | undefined {
  const url = absoluteUrl(target)
  return url === undefined || url.port !== '' ? undefined : `${url.hostname.replace(/\.$/, '')}.`
}

/**
 * The target unchanged if it is ASCII, otherwise encoded for a header; without the final dot of the
 * host, which a browser would send to the server.
 */
export function headerTarget(target: string): string {
  const isPlain = /^https?:\/\/[!-~]+$/.test(target)
  const text = isPlain ? target : (absoluteUrl(target)?.href ?? target)
  return text.replace(/^https?:\/\/[^/?#]+/i, withoutFinalDot)
}
