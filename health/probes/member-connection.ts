// Opens a connection to a member: TCP or TLS, with the server name of the check.
import { connect, isIP, isIPv6 } from 'node:net'
import type { Socket } from 'node:net'
import { checkServerIdentity, connect as connectTls } from 'node:tls'
import type { SecureContext, TLSSocket } from 'node:tls'
import { withoutFinalDot } from '#dns/final-dot.ts'
import { Attempt } from './attempt.ts'
import type { ClientCertificates } from './client-certificates.ts'
import type { Probe, ProbeTarget } from './probe.ts'

/**
 * `onOpen` gets only a connection whose certificate was accepted.
 *
 * @param protocol name for ALPN (RFC 7301)
 */
function openMember(
  target: ProbeTarget,
  protocol: 'http/1.1' | 'h2',
  certificates: ClientCertificates,
  attempt: Attempt,
  onOpen: (socket: Socket) => void,
): void {
  const { tls, port, clientCertificate } = target.check
  let socket: Socket
  if (tls) {
    const context = certificates.contextOf(clientCertificate)
    if (!context.ok) {
      // Deferred, since a report must not come before `run` has returned.
      queueMicrotask(() => {
        attempt.failLocally(context.error)
      })
      return
    }
    socket = openTls(target, protocol, context.value)
  } else {
    socket = connect({ host: target.ipAddress, port })
  }
  attempt.useMember(socket)
  socket.once(tls ? 'secureConnect' : 'connect', () => {
    if (!attempt.isOver) onOpen(socket)
  })
}

/** A probe that asks over a connection of its own. */
export function probeOver(
  protocol: Parameters<typeof openMember>[1],
  certificates: ClientCertificates,
  ask: (target: ProbeTarget, socket: Socket, attempt: Attempt) => void,
): Probe {
  return {
    run(target, report) {
      const attempt = new Attempt(target.check.timeoutMs, report)
      openMember(target, protocol, certificates, attempt, (socket) => ask(target, socket, attempt))
      return attempt.cancel
    },
  }
}

/** The certificate must be valid for `httpHost` if that is set, else for the address. */
function openTls({ ipAddress, check }: ProbeTarget, protocol: string, context: SecureContext) {
  const name = check.httpHost === '' ? ipAddress : hostnameOf(check.httpHost)
  const socket: TLSSocket = connectTls({
    host: ipAddress,
    port: check.port,
    secureContext: context,
    // RFC 6066 section 3: an address is no server name.
    servername: isIP(name) === 0 ? name : '',
    checkServerIdentity: (_host, certificate) => checkServerIdentity(name, certificate),
    rejectUnauthorized: !check.insecureSkipVerify,
    ALPNProtocols: [protocol],
  })
  return socket
}

/**
 * Turns `[2001:db8::1]:8443` into 2001:db8::1, and `www.example.com.:8443` into www.example.com.
 */
function hostnameOf(host: string): string {
  if (isIPv6(host)) return host
  const bracketed = /^\[([^\]]*)\]/.exec(host)
  if (bracketed !== null) return bracketed[1] ?? ''
  return withoutFinalDot(host.replace(/:\d*$/, ''))
}

/** RFC 9110 section 7.2: the default port of the scheme is omitted. */
export function hostOf({ ipAddress, check }: ProbeTarget): string {
  if (check.httpHost !== '') return withoutFinalDot(check.httpHost)
  const host = isIPv6(ipAddress) ? `[${ipAddress}]` : ipAddress
  return check.port === (check.tls ? 443 : 80) ? host : `${host}:${check.port}`
}
