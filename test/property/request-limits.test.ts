// Random requests within ten minutes, one after the other: together they take no more of any pool,
// and no more names, than one commit may, whatever order they come in.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'vitest'
import { applyOperation } from '#config/change/apply.ts'
import { Draft } from '#config/draft.ts'
import { ConfigIndex } from '#config/object-index.ts'
import type { Operation, WriteRequest, WrittenObject } from '#config/operation.ts'
import { NameLedger } from '#judge/requests/name-ledger.ts'
import { RecentChanges } from '#judge/requests/recent-changes.ts'
import { beforeRequest, guardFailure } from '#judge/requests/request-guardrails.ts'
import { laneCount } from '#test/support/lane.ts'

const tenant = 'acme'
const zone = 'example.com.'
const pools = [2, 4, 7].map((size, pool) => Array.from({ length: size }, (_, i) => uidOf(pool, i)))
const servicesCount = 9

function uidOf(pool: number, member: number): string {
  return `00000000-0000-4000-8000-0000000${pool}000${member}`
}

const addressOf = (pool: number, member: number): string => `192.0.${pool}.${member + 1}`

function operationOf(what: number, a: number, b: number): Operation {
  const pool = a % pools.length
  const member = { uid: pools[pool]![b % pools[pool]!.length]! }
  const service = { tenant, name: `s${b % servicesCount}` }
  const patch = (fields: object): Operation =>
    ({ verb: 'update', kind: 'Member', target: member, patch: fields }) as Operation
  const all: readonly Operation[] = [
    patch({ enabled: false }),
    patch({ weight: 0 }),
    patch({ enabled: true, weight: 1 }),
    { verb: 'delete', kind: 'Member', target: member },
    { verb: 'delete', kind: 'Service', target: service },
    { verb: 'update', kind: 'Service', target: service, patch: { pool: null } },
    serviceOf(b % servicesCount, pool),
    { verb: 'update', kind: 'Service', target: service, patch: { pool: `p${pool}` } },
  ]
  return all[what]!
}

function serviceOf(i: number, pool: number): Operation {
  const spec = { domain: `s${i}.${zone}`, pool: `p${pool}` }
  return { verb: 'create', kind: 'Service', tenant, name: `s${i}`, spec }
}

const start: readonly Operation[] = [
  ...pools.map((uids, pool): Operation => {
    const members = uids.map((uid, i) => {
      return { name: `m${i}`, uid, ipAddress: addressOf(pool, i), port: 80 }
    })
    return { verb: 'create', kind: 'Pool', tenant, name: `p${pool}`, spec: { members } }
  }),
  ...Array.from({ length: servicesCount }, (_, i) => serviceOf(i, i % pools.length)),
]

function scene() {
  let nowMs = 0
  const paths = { isTaken: () => false, isFile: () => false }
  const rawOf = (): never => assert.fail('all objects are new')
  const draft = new Draft({ base: ConfigIndex.empty, rawOf, paths })
  const names = new NameLedger()
  const recent = new RecentChanges({ nowMs: () => nowMs, monotonicMs: () => nowMs })
  const write = (operations: readonly Operation[], override?: string): void => {
    nowMs += 1_000
    const mark = draft.begin()
    const actor = { name: 'test', address: 'test@users.gslbd' }
    const meant = override === undefined ? {} : { override }
    const request: WriteRequest = { requestId: 'r', actor, operations, ...meant }
    const guarded = beforeRequest(draft, request)
    const written: (WrittenObject | null)[] = []
    for (const operation of operations) {
      const applied = applyOperation(draft, operation)
      if (!applied.ok) return draft.rollBack(mark)
      written.push(applied.value)
    }
    const failure = guardFailure(draft, request, guarded, written, { names, recent })
    if (failure !== undefined) draft.rollBack(mark)
  }
  return { draft, write }
}

const isMany = (lost: number, total: number, percent: number): boolean =>
  lost > 1 && lost * 100 > total * percent

const step = fc.tuple(fc.nat(7), fc.nat(2), fc.nat(8))
const requests = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 40 })

test('requests of ten minutes take no more than one commit may', () => {
  fc.assert(
    fc.property(requests, (all) => {
      const { draft, write } = scene()
      write(start, 'the beginning')
      for (const steps of all) write(steps.map((one) => operationOf(...one)))
      for (const [pool, uids] of pools.entries()) {
        const members = draft.find('Pool', { tenant, name: `p${pool}` })?.object.spec.members ?? []
        const left = members.filter(({ enabled, weight }) => enabled && weight > 0)
        assert(!isMany(uids.length - left.length, uids.length, 50), `pool ${pool}`)
        if (draft.servicesOf(`p${pool}`).length > 0) {
          assert(
            members.some(({ enabled }) => enabled),
            `pool ${pool} answers`,
          )
        }
      }
      const balanced = draft.entries('Service').filter(({ object }) => object.spec.pool !== null)
      assert(!isMany(servicesCount - balanced.length, servicesCount, 30), 'names')
    }),
    { numRuns: laneCount(3_000, 150) },
  )
})
