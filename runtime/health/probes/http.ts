// The http probe: one GET on a connection of its own, judged by its status, then its body.
import type { IncomingMessage } from 'node:http'
import { connect, isIP, isIPv6 } from 'node:net'
import type { Socket } from 'node:net'
import { checkServerIdentity, connect as connectTls, createSecureContext } from 'node:tls'
import type { SecureContext } from 'node:tls'
import type { HealthCheckModel } from '#bundle/format/model.ts'
import { Attempt } from './attempt.ts'
import { BodySearch } from './body-search.ts'
import type { Probe, ProbeTarget } from './probe.ts'
import { exchange } from './http-exchange.ts'

export const http: Probe = {
  type: 'http',
  run(target, report) {
    const { check } = target
    const socket = check.tls
      ? openTls(target)
      : connect({ host: target.ipAddress, port: check.port })
    const attempt = new Attempt(check.timeoutMs, report)
    attempt.useMember(socket)
    // Only a connection whose certificate was accepted carries the request.
    socket.once(check.tls ? 'secureConnect' : 'connect', () => {
      if (!attempt.isOver) sendRequest(target, socket, attempt)
    })
    return attempt.cancel
  },
}

let sharedContext: SecureContext | undefined

/** The certificate is for `httpHost` when that is set, for the address otherwise. */
function openTls({ ipAddress, check }: ProbeTarget): Socket {
  const name = check.httpHost === '' ? ipAddress : hostnameOf(check.httpHost)
  // Built once: each context of its own would load the root certificates again.
  sharedContext ??= createSecureContext()
  return connectTls({
    host: ipAddress,
    port: check.port,
    secureContext: sharedContext,
    // RFC 6066 section 3: an address is no server name.
    servername: isIP(name) === 0 ? name : '',
    checkServerIdentity: (_host, certificate) => checkServerIdentity(name, certificate),
    rejectUnauthorized: !check.insecureSkipVerify,
    ALPNProtocols: ['http/1.1'],
  })
}

/** `[2001:db8::1]:8443` is 2001:db8::1, `www.example.com.:8443` is www.example.com. */
function hostnameOf(host: string): string {
  if (isIPv6(host)) return host
  const bracketed = /^\[([^\]]*)\]/.exec(host)
  if (bracketed !== null) return bracketed[1] ?? ''
  return host.replace(/:\d*$/, '').replace(/\.$/, '')
}

function sendRequest(target: ProbeTarget, socket: Socket, attempt: Attempt): void {
  const { check } = target
  const host = check.httpHost === '' ? hostHeader(target) : check.httpHost
  const request = { method: 'GET', path: check.httpPath, headers: { host }, body: '' } as const
  exchange(socket, request, attempt, (response) => {
    judge(response, check, attempt)
  })
}

/** RFC 9110 section 7.2: the port is left out when it is the scheme's own. */
function hostHeader({ ipAddress, check }: ProbeTarget): string {
  const host = isIPv6(ipAddress) ? `[${ipAddress}]` : ipAddress
  return check.port === (check.tls ? 443 : 80) ? host : `${host}:${check.port}`
}

function judge(response: IncomingMessage, check: HealthCheckModel, attempt: Attempt): void {
  const status = response.statusCode ?? 0
  if (check.httpExpectedStatus !== 0 && status !== check.httpExpectedStatus) {
    attempt.fail(`HTTP ${status}, expected ${check.httpExpectedStatus}`)
  } else if (check.httpContains === '') {
    attempt.succeed()
  } else {
    search(response, check.httpContains, attempt)
  }
}

function search(response: IncomingMessage, text: string, attempt: Attempt): void {
  const body = new BodySearch(text)
  response.on('data', (piece: Buffer) => {
    // Pieces that were read with the deciding one still arrive.
    if (attempt.isOver) return
    const state = body.feed(piece)
    if (state === 'found') attempt.succeed()
    if (state === 'capped')
      attempt.fail('the first 1 MB of the body lacks the text in httpContains')
  })
  response.on('end', () => {
    attempt.fail('the body lacks the text in httpContains')
  })
  response.on('error', (error) => {
    attempt.fail(error)
  })
}
