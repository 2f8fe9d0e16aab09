// Implements the tcp probe: healthy when a connection is established; nothing is sent.
import { connect } from 'node:net'
import { Attempt } from './attempt.ts'
import type { Probe } from './probe.ts'

export const tcp: Probe = {
  run({ ipAddress, check }, report) {
    const socket = connect({ host: ipAddress, port: check.port })
    const attempt = new Attempt(check.timeoutMs, report)
    attempt.useMember(socket)
    socket.once('connect', () => {
      attempt.succeed()
    })
    return attempt.cancel
  },
}
