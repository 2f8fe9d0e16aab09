// Implements the webhook probe: asks another server about the member, within the node's
// restrictions.
import { connect, isIP } from 'node:net'
import type { LookupFunction, Socket, TcpNetConnectOpts } from 'node:net'
import { connect as connectTls, createSecureContext } from 'node:tls'
import type { SecureContext } from 'node:tls'
import { withoutFinalDot } from '#dns/final-dot.ts'
import { parseAddress } from '#dns/address.ts'
import { isForbiddenAddress } from '#dns/network.ts'
import type { Network } from '#dns/network.ts'
import { networksOf } from '#routing/tables/network-list.ts'
import { systemClock } from '#lib/clock.ts'
import { Attempt } from './attempt.ts'
import { healthLimits } from '#health/limits.ts'
import type { Probe, ProbeTarget } from './probe.ts'
import { exchange } from './http-exchange.ts'
import { HostLookup } from './lookup.ts'

/** @param allowedHosts addresses and networks that may be asked though they are internal */
export function createWebhook(allowedHosts: readonly string[]): Probe {
  const allowed = networksOf(allowedHosts)
  const lookup = new HostLookup()
  return {
    run(target, report) {
      const attempt = new Attempt(target.check.timeoutMs, report)
      ask(target, attempt, lookup, allowed).catch((error: unknown) => {
        attempt.fail(error as Error)
      })
      return attempt.cancel
    },
  }
}

async function ask(
  target: ProbeTarget,
  attempt: Attempt,
  lookup: HostLookup,
  allowed: readonly Network[],
): Promise<void> {
  const url = URL.parse(target.check.webhookURL)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    // Deferred, since a report must not come before `run` has returned.
    await Promise.resolve()
    attempt.fail('webhookURL is no http:// or https:// address')
    return
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const addresses = await addressesOf(host, attempt, lookup)
  if (attempt.isOver) return
  const open = addresses.filter((address) => isOpen(address, allowed))
  if (open.length === 0) {
    attempt.fail('webhookURL leads to an internal address, which health.webhookAllowedHosts lacks')
    return
  }
  const socket = connectTo(url, host, open)
  attempt.use(socket)
  socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
    if (!attempt.isOver) send(url, target, socket, attempt)
  })
}

async function addressesOf(
  host: string,
  attempt: Attempt,
  lookup: HostLookup,
): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host]
  const askedMs = systemClock.monotonicMs()
  const { addresses, started } = lookup.ask(host)
  attempt.excuse = 'this node waits for too many slow name servers'
  void started.then(() => {
    // After a short wait the attempt has had its time: a timeout is the member's fault.
    if (systemClock.monotonicMs() - askedMs <= healthLimits.stallMs) attempt.excuse = ''
  })
  return addresses
}

/** Connects to the addresses that were checked: another lookup might give others. */
function connectTo(url: URL, host: string, addresses: readonly string[]): Socket {
  const isTls = url.protocol === 'https:'
  const checked = addresses.map((address) => ({ address, family: isIP(address) }))
  const lookup: LookupFunction = (_host, { all }, give) => {
    if (all === true) give(null, checked)
    else give(null, checked[0]!.address, checked[0]!.family)
  }
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port)
  const where: TcpNetConnectOpts = { host, port, lookup, autoSelectFamily: true }
  if (!isTls) return connect(where)
  sharedContext ??= createSecureContext()
  return connectTls({
    ...where,
    secureContext: sharedContext,
    // RFC 6066 section 3: an address is no server name.
    servername: isIP(host) === 0 ? withoutFinalDot(host) : '',
    ALPNProtocols: ['http/1.1'],
  })
}

let sharedContext: SecureContext | undefined

/** The body of the response is never read: the status decides. */
function send(url: URL, target: ProbeTarget, socket: Socket, attempt: Attempt): void {
  const { webhookMethod: method, port } = target.check
  const body = method === 'POST' ? JSON.stringify({ ip: target.ipAddress, port }) : ''
  const content = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  }
  const headers = { host: withoutFinalDot(url.host), ...(method === 'POST' ? content : {}) }
  const path = `${url.pathname}${url.search}`
  exchange(socket, { method, path, headers, body }, attempt, ({ statusCode = 0 }) => {
    if (statusCode >= 200 && statusCode <= 299) attempt.succeed()
    else attempt.fail(`HTTP ${statusCode}, expected 200-299`)
  })
}

function isOpen(address: string, allowed: readonly Network[]): boolean {
  const octets = parseAddress(address)
  // An address with a zone does not parse: no public server has one.
  return octets.ok && !isForbiddenAddress(octets.value, allowed)
}
