// Traces, read by what others have: the messages of OpenTelemetry as Python has them, and Google's
// reader of their JSON. Both are of PyPI; where that is not reached, .ci/run leaves this file out.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { CommitTraces } from '#integrations/telemetry/commit-traces.ts'
import { exportRequest } from '#integrations/telemetry/otlp-json.ts'
import type { Span } from '#integrations/telemetry/span.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const packages = ['opentelemetry-proto==1.45.0', 'protobuf==7.36.2']
const folder = join(import.meta.dirname, '../../node_modules/.cache/otlp-messages')

/**
 * Reads a request as a collector has to: names and types as the messages have them, an unknown
 * field is an error. Ids are hexadecimal in OTLP, and base64 elsewhere.
 * @see https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
const reader = `
import base64, json, sys
sys.path.insert(0, sys.argv[1])
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

ids = {"traceId", "spanId", "parentSpanId"}

def convert(value, turn):
    if isinstance(value, list):
        return [convert(one, turn) for one in value]
    if isinstance(value, dict):
        return {key: turn(one) if key in ids else convert(one, turn) for key, one in value.items()}
    return value

def octets(text):
    return base64.b64encode(bytes.fromhex(text)).decode()

def digits(text):
    return base64.b64decode(text).hex()

request = json_format.ParseDict(convert(json.load(sys.stdin), octets), ExportTraceServiceRequest())
copy = ExportTraceServiceRequest.FromString(request.SerializeToString(deterministic=True))
back = json_format.MessageToDict(copy, use_integers_for_enums=True)
print(json.dumps(convert(back, digits)))
`

function readByOthers(request: object): unknown {
  const input = JSON.stringify(request)
  return JSON.parse(execFileSync('python3', ['-c', reader, folder], { input, encoding: 'utf8' }))
}

beforeAll(() => {
  const args = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--upgrade', '--target', folder]
  execFileSync('python3', [...args, ...packages], { stdio: 'pipe' })
}, 300_000)

const commit = '0123456789abcdef0123456789abcdef01234567'
const atMs = Date.UTC(2026, 10, 30) + 0.25
const period = { startMs: atMs, endMs: atMs + 1.5 }

/** All kinds of spans, of a write and of a commit that is held. */
function spans(): readonly Span[] {
  const time = new FakeTime(atMs)
  const { clock, after } = time
  const made: Span[] = []
  const add = (more: readonly Span[]): void => void made.push(...more)
  const far = { name: 'far-1', role: 'dns', publisher: 'p', seq: 7, digest: 'd' }
  const traces = new CommitTraces({ add, nodes: () => [far], node: 'c1', clock, after })
  traces.activated({ ...period, commit, publisher: 'p', seq: 7, digest: 'd' })
  traces.wrote({ commit, requestId: 'r1', stages: [{ ...period, name: 'prepare' }] })
  time.pass(1)
  const client = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
  const request = { requestId: 'r1', method: 'POST', route: '/api/v1/pools', status: 201, client }
  traces.ended({ ...period, ...request })
  const steps = [{ ...period, name: 'compile' }]
  traces.looked({ commit: 'cd'.repeat(20), steps, fault: 'CompileFailed' })
  traces.close()
  return made
}

/** @param value an export request, without what the messages have as their default */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const isThere = ([, one]: [string, unknown]): boolean => !Array.isArray(one) || one.length > 0
  const fields = Object.entries(value).filter(isThere)
  return Object.fromEntries(fields.map(([key, one]) => [key, plain(one)]))
}

test('a request is what the published messages are in JSON', () => {
  const made = spans()
  expect(made.map(({ name }) => name).sort()).toEqual(
    ['POST /api/v1/pools', 'activate', 'activate', 'compile', 'follow', 'prepare', 'write'].sort(),
  )
  const request = exportRequest(made, 'c1')
  expect(readByOthers(request)).toEqual(plain(request))
})

test.each([
  ['a fraction', 0.5],
  ['a large integer', Number.MAX_SAFE_INTEGER],
  ['an integer below zero', -7],
  ['an empty text', ''],
  ['other letters', 'Zürich 東京 🌍'],
  ['a long text that is cut within a letter', `${'x'.repeat(254)}🌍 and more`],
])('%s is read as it is written', (_what, value) => {
  const [span] = spans()
  const request = exportRequest([{ ...span!, attributes: { value } }], 'c1')
  expect(readByOthers(request)).toEqual(plain(request))
})

test('the reader refuses what is no field', () => {
  const request = exportRequest([...spans()], 'c1') as { resourceSpans: object[] }
  const wrong = { resourceSpans: [{ ...request.resourceSpans[0], spans: [] }] }
  expect(() => readByOthers(wrong)).toThrow('no field named "spans"')
})
