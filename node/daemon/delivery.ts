// Part: delivers changes to the nodes of a fleet in waves.
import { hash } from 'node:crypto'
import { statSync } from 'node:fs'
import type { Manifest } from '#bundle/format/manifest.ts'
import { DeliveryFiles } from '#node/compose/delivery-files.ts'
import { DeliveryPromise } from '#questions/plan/delivery-promise.ts'
import { signChannelRecord } from '#bundle/signature/channel.ts'
import { DeliveryKeeper } from '#fleet/delivery/keeper.ts'
import type { DeliveryKeeperParts } from '#fleet/delivery/keeper.ts'
import type { DeliveryNode } from '#fleet/delivery/membership.ts'
import type { DeliveryPlan } from '#fleet/delivery/plan.ts'
import { PlaceRecords } from '#fleet/delivery/records.ts'
import type { DeliveryState } from '#fleet/delivery/state.ts'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'
import { channel, recordTtlMs } from './git.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { Has } from '#node/parts/part-outputs.ts'
import { readHold, readLabels } from '#schemas/forms/wave.ts'
import type { DeliverySpec } from '#schemas/objects/delivery.ts'

type OfState = 'dataDir' | 'key' | 'records'
type Needs = Given & Has<OfState | 'node' | 'store' | 'gitops' | 'inventory'>

export const keepDelivery = (have: Needs): Outcome<Has<'delivery'>> => {
  const { dataDir, store, key, gitops, log } = have
  const files = new DeliveryFiles(dataDir.path, store)
  const records = new PlaceRecords({
    ...{ channel, ttlMs: recordTtlMs, clock: systemClock },
    // The feed learns when this node's record changes.
    agentsMax: () => have.node.status().active?.agentsMax,
    bytesOf: (digest) => bytesOf(files.bundlePath(digest)),
    sign: (record) => signChannelRecord(record, key.signing),
  })
  const keep = (text: string, state: DeliveryState): void => {
    files.keep(text, state)
    files.keepPassed(records.of(state.good))
  }
  const { read, replace } = storeOf(have)
  const keeper = new DeliveryKeeper({
    ...{ read, replace, keep, records, clock: systemClock, log },
    name: have.settings.state.nodeName,
    mayHaveRow: () => have.records.state.exists(),
    kept: () => files.state(),
    made: () => madeBy(have),
    plan: (commit) => planIn(have, commit),
    nodes: () => nodesIn(have),
    heardMs: () => have.inventory.heardMs(),
    strangers: () => have.inventory.all().filter(({ isCounted }) => !isCounted).length,
    onChange: () => have.later.bundleFeed?.changed(),
  })
  const tick = async (): Promise<void> => {
    await keeper.tick()
    renewPassed(keeper, files, records)
  }
  const promise = new DeliveryPromise({
    bundlePath: (digest) => files.bundlePath(digest),
    tables: () => have.node.live()?.tables,
    clock: systemClock,
  })
  const promised = (): string => promise.of(keeper.view()?.state)
  const forget = gitops.config.onChange(() => void tickQuietly(tick, have))
  const stop = async (): Promise<void> => {
    forget()
    await promise.close()
  }
  return ok({ gives: { delivery: { keeper, files, tick, promised } }, stop })
}

function bytesOf(path: string | undefined): number | undefined {
  return path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })?.size
}

async function tickQuietly(tick: () => Promise<void>, { log }: Needs): Promise<void> {
  await tick().catch((error: unknown) =>
    log.error({ err: error }, 'the delivery of the forge could not be processed'),
  )
}

/** Renews the record before it expires. A disk that refuses is reported elsewhere. */
function renewPassed(keeper: DeliveryKeeper, files: DeliveryFiles, records: PlaceRecords): void {
  const view = keeper.view()
  if (view === null) return
  try {
    files.keepPassed(records.of(view.state.good))
  } catch {
    return
  }
}

function storeOf({ records }: Needs): Pick<DeliveryKeeperParts, 'read' | 'replace'> {
  const { deliveries } = records.state.persistent
  return {
    read: async () => sentenceOf(await deliveries.read(channel)),
    replace: async (seen, row) => sentenceOf(await deliveries.replace(channel, seen, row)),
  }
}

function sentenceOf<T>(result: Result<T, StoreFailure>): Result<T, string> {
  return result.ok ? result : err(result.error.message)
}

/** The bundle that nodes could be given: active here, and on the disk. */
function madeBy({ node }: Needs): ReturnType<DeliveryKeeperParts['made']> {
  const { active, isStored } = node.status()
  if (active === null || !isStored) return undefined
  const { commit, digest, serial = 0, seq } = active
  const bundle = node.bundle()
  const content = bundle?.digest === digest ? contentOf(bundle.manifest) : ''
  return { made: { commit, digest, serial, content }, seq }
}

/** Digest of everything that answers depend on. */
function contentOf({ compiler, counts, nameSeed, nameLabelsMax, sections }: Manifest): string {
  const all = [compiler, counts, nameSeed, nameLabelsMax, sections]
  return hash('sha256', JSON.stringify(all)).slice(0, 32)
}

function planIn({ gitops: { config } }: Needs, commit: string): DeliveryPlan | null | undefined {
  if (!config.isReady()) return undefined
  const snapshot = config.snapshot()
  // The view follows the bundle with a short delay.
  if (snapshot.revision !== commit) return undefined
  const found = snapshot.list('Delivery').find(({ object }) => object.spec.channel === channel)
  return found === undefined ? null : deliveryPlanOf(found.object.spec)
}

function nodesIn({ inventory }: Needs): readonly DeliveryNode[] {
  return inventory.all().flatMap(({ report, ageMs, clockOffsetMs, isCounted }) => {
    const { role, name, labels, instance, digest, seq, refusals, counters, shadow } = report
    if (role !== 'dns' || !isCounted) return []
    const seen = { name, labels, instance, digest, seq, refusals, counters, shadow }
    return [{ ...seen, ageMs, clockOffsetMs }]
  })
}

function accepted<T>(value: T | undefined): T {
  assert(value !== undefined, 'the compiler has accepted the labels of a wave')
  return value
}

/** @param spec accepted by the compiler */
function deliveryPlanOf({ waves, gates, onFailure, decisions }: DeliverySpec) {
  const { p99, changedAnswers = null, ...limits } = gates
  return {
    waves: waves.map(({ nodes, percent, hold, shadow }) => ({
      labels: nodes === undefined ? null : accepted(readLabels(nodes)),
      percent: percent ?? null,
      holdMs: readHold(hold) ?? 0,
      shadowMs: readHold(shadow) ?? 0,
    })),
    gates: {
      ...limits,
      changedAnswers,
      p99Us: p99 === undefined ? null : (readHold(p99) ?? 0) * 1_000,
    },
    ...{ onFailure, decisions },
  }
}
