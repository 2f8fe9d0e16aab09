// Implements the http probe: one request on its own connection, judged by status, then by body.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { HealthCheckModel } from '#bundle/format/model.ts'
import type { Attempt } from './attempt.ts'
import { BodySearch } from './body-search.ts'
import type { ClientCertificates } from './client-certificates.ts'
import type { Probe, ProbeTarget } from './probe.ts'
import { exchange } from './http-exchange.ts'
import { hostOf, probeOver } from './member-connection.ts'

export const createHttp = (certificates: ClientCertificates): Probe =>
  probeOver('http/1.1', certificates, sendRequest)

function sendRequest(target: ProbeTarget, socket: Socket, attempt: Attempt): void {
  const { check } = target
  const { httpMethod: method, httpPath: path } = check
  const headers = { ...check.httpHeaders, host: hostOf(target) }
  exchange(socket, { method, path, headers, body: '' }, attempt, (response) => {
    judge(response, check, attempt)
  })
}

function judge(response: IncomingMessage, check: HealthCheckModel, attempt: Attempt): void {
  const status = response.statusCode ?? 0
  const expected = expectedOf(check)
  if (expected.length > 0 && !expected.some(([from, to]) => status >= from && status <= to)) {
    const words = expected.map(([from, to]) => (from === to ? from : `${from}-${to}`))
    attempt.fail(`HTTP ${status}, expected ${words.join(', ')}`)
  } else if (check.httpContains === '') {
    attempt.succeed()
  } else {
    search(response, check.httpContains, attempt)
  }
}

/** @returns undefined: any status is accepted */
function expectedOf({
  httpExpectedStatus: one,
  httpExpectedStatuses: some,
}: HealthCheckModel): HealthCheckModel['httpExpectedStatuses'] {
  if (some.length > 0) return some
  return one === 0 ? [] : [[one, one]]
}

function search(response: IncomingMessage, text: string, attempt: Attempt): void {
  const body = new BodySearch(text)
  response.on('data', (piece: Buffer) => {
    // Chunks that were read together with the deciding one still arrive.
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
