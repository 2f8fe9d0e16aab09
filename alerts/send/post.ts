// Posts JSON to an address that somebody else wrote: checked addresses, TLS, no redirect, one
// deadline, a bounded answer.
import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'
import { withoutFinalDot } from '#dns/final-dot.ts'
import type { Network } from '#dns/network.ts'
import { boundedBytes } from '#lib/http/bounded-body.ts'
import { exchange } from '#lib/http/exchange.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { version } from '#lib/version.ts'
import { sendLimits } from './limits.ts'
import { openAddresses } from './open-addresses.ts'
import type { LookUp } from './open-addresses.ts'

/** How messages reach others; the composition sets it. */
export interface Way {
  readonly lookUp: LookUp
  /** Internal networks that may be reached, also without TLS. */
  readonly allowed: readonly Network[]
  /** PEM; left out: the certificates of Node. */
  readonly ca?: string
  /** Default: `sendLimits.timeoutMs`. */
  readonly timeoutMs?: number
}

export interface PostAnswer {
  readonly status: number
  /** The media type without parameters, in lower case; '' without one. */
  readonly contentType: string
  /** At most `sendLimits.answerBytesMax`. */
  readonly text: string
}

/** Errors: a sentence without the address, which may hold a token. */
export async function post(
  address: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  way: Way,
): Promise<Result<PostAnswer, string>> {
  const url = URL.parse(address)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    return err('the address is no http:// or https:// address')
  }
  const timeoutMs = way.timeoutMs ?? sendLimits.timeoutMs
  const deadline = AbortSignal.timeout(timeoutMs)
  const late = new Promise<'late'>((resolve) => {
    deadline.addEventListener('abort', () => resolve('late'), { once: true })
  })
  const open = await Promise.race([openAddresses(url.hostname, way.lookUp, way.allowed), late])
  if (open === 'late') return err(`the host name was not looked up within ${timeoutMs} ms`)
  if (!open.ok) return open
  const { addresses, areListed } = open.value
  if (url.protocol === 'http:' && !areListed) {
    return err('http:// is for addresses of alerts.allowedHosts alone; write an https:// address')
  }
  try {
    return ok(await posted(url, addresses, body, headers, deadline, way.ca))
  } catch (error) {
    if (deadline.aborted) return err(`no whole answer within ${timeoutMs} ms`)
    const { code = 'failed' } = error as NodeJS.ErrnoException
    return err(`the request failed (${code})`)
  }
}

function posted(
  url: URL,
  addresses: readonly string[],
  body: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
  ca: string | undefined,
): Promise<PostAnswer> {
  // Uses the checked addresses: another lookup might give others.
  const checked = addresses.map((address) => ({ address, family: isIP(address) }))
  const lookup: LookupFunction = (_host, { all }, give) => {
    if (all === true) give(null, checked)
    else give(null, checked[0]!.address, checked[0]!.family)
  }
  const options = {
    method: 'POST',
    signal,
    lookup,
    autoSelectFamily: true,
    maxHeaderSize: sendLimits.answerBytesMax,
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': `gslbd/${version}`,
      ...headers,
    },
    ...(ca === undefined ? {} : { ca }),
  } as const
  const sent = new URL(url)
  sent.hostname = withoutFinalDot(url.hostname)
  return exchange(sent, options, body, async (answer) => {
    const bytes = await boundedBytes(answer, sendLimits.answerBytesMax)
    const [type = ''] = (answer.headers['content-type'] ?? '').split(';')
    return {
      status: answer.statusCode ?? 0,
      contentType: type.trim().toLowerCase(),
      text: Buffer.from(bytes).toString('utf8'),
    }
  })
}
