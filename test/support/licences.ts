// A vendor with a key, tokens of it, and a keeper of licences over stores in memory.
import { generateKeyPairSync } from 'node:crypto'
import { LicenceService } from '#licence/licence-service.ts'
import type { LicenceServiceParts } from '#licence/licence-service.ts'
import { createLicenceServer } from '#licence/server.ts'
import { issueToken } from '#licence/token.ts'
import type { LicencePayload } from '#licence/token.ts'
import { err, ok } from '#lib/result.ts'
import type { Licences, LicenceRecord } from '#state/ports/licences.ts'
import type { JsonValue, SharedSettings } from '#state/ports/settings.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'
import { silentLog } from './api-ports.ts'
import { FakeTime } from './fake-time.ts'

export const startMs = Date.UTC(2026, 10, 20, 12)
export const startSeconds = startMs / 1_000
export const day = 86_400
export const installId = '0123456789abcdef0123456789abcdef'
export const licenceId = 'fedcba9876543210fedcba9876543210'

export const vendor = generateKeyPairSync('ed25519')
export const stranger = generateKeyPairSync('ed25519')

export const rates = { defaultFreeRPS: 50, defaultUnlicensedRPS: 5, expiredFallbackRPS: 20 }

export function payload(parts: Partial<LicencePayload> = {}): LicencePayload {
  const whole = { tier: 'pro', maxRps: 0, iat: startSeconds, exp: startSeconds + day } as const
  return { ...whole, id: licenceId, cid: 'acme', ...parts }
}

export const token = (parts: Partial<LicencePayload> = {}, key = vendor.privateKey): string =>
  issueToken(payload(parts), key)

interface MemoryLicences {
  readonly store: Licences
  readonly shared: SharedSettings
  /** While true, neither can be reached. */
  isAway: boolean
  /** While true, they are still being made. */
  isStarting: boolean
}

/** A database that lasts as long as the object. */
export function memoryLicences(): MemoryLicences {
  let record: LicenceRecord | null = null
  const values = new Map<string, JsonValue>()
  const away = err<StoreFailure>({ code: 'store-away', message: 'the database is away' })
  const whenHere = async <T>(run: () => T) => (memory.isAway ? away : ok(run()))
  const memory: MemoryLicences = {
    isAway: false,
    isStarting: false,
    store: {
      load: (candidate) =>
        whenHere(() => (record ??= { installId: candidate, licence: null, trial: null })),
      saveLicence: (licence) => whenHere(() => void (record = { ...record!, licence })),
      beginTrial: (trial) =>
        whenHere(() => (record = { ...record!, trial: record!.trial ?? trial }).trial),
    },
    shared: {
      get: (key) => whenHere(() => values.get(key)),
      set: (key, value) => whenHere(() => void values.set(key, value)),
      delete: (key) => whenHere(() => values.delete(key)),
    },
  }
  return memory
}

interface KeeperScene {
  readonly keeper: LicenceService
  readonly time: FakeTime
  readonly memory: MemoryLicences
  /** Limits passed to the responders, in order; 0: no limit. */
  readonly told: number[]
  readonly options: LicenceServiceParts['options']
}

/** A busy machine may take longer than half a second to answer. */
const patient = { trialMs: 45_000, verifyMs: 45_000 }

interface KeeperChoices {
  readonly memory?: MemoryLicences
  readonly time?: FakeTime
  readonly environmentToken?: string
  readonly server?: LicenceServiceParts['server']
  readonly options?: Partial<LicenceServiceParts['options']>
  readonly log?: LicenceServiceParts['log']
  readonly countNodes?: LicenceServiceParts['countNodes']
}

export function keeperScene(choices: KeeperChoices = {}): KeeperScene {
  const { memory = memoryLicences(), time = new FakeTime(startMs) } = choices
  const told: number[] = []
  const options = {
    vendorKey: vendor.publicKey,
    fileToken: '',
    serverUrl: '',
    refreshIntervalMs: 3_600_000,
    rates,
    ...choices.options,
  }
  const keeper = new LicenceService({
    store: memory.store,
    shared: memory.shared,
    isStarting: () => memory.isStarting,
    environmentToken: choices.environmentToken ?? '',
    options,
    installIdCandidate: installId,
    machineId: 'machine',
    countNodes: choices.countNodes ?? (() => 1),
    server: choices.server ?? createLicenceServer(patient),
    clock: time.clock,
    log: choices.log ?? silentLog,
    onRate: (perSecond) => told.push(perSecond),
  })
  return { keeper, time, memory, told, options }
}
