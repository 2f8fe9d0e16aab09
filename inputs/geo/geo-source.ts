// Keeps geo tables current: loads files, reloads them on change, keeps the last good tables.
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { noGeoBuffers } from '#routing/geo/geo-tables.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { fingerprintOf, isErrorCode, sentenceOf } from './geo-file.ts'
import type { Fingerprint } from './geo-file.ts'
import { geoLimits } from './limits.ts'
import type { GeoLoadRequest, GeoLoaded, GeoNotLoaded } from './load.ts'
import { loadGeoInThread } from './load-thread.ts'
import type { GeoLoading } from './load-thread.ts'
import type { GeoSetting } from './lower.ts'

export interface GeoSourceParts {
  /** By setting; without a path there is no database. */
  readonly paths: Readonly<Partial<Record<GeoSetting, string>>>
  readonly clock: Clock
  readonly log: Log
  /** Called with new tables; earlier ones may be freed when no thread reads them. */
  readonly onChange: (buffers: GeoBuffers) => void
  /** Interval of checks for changed files. Default `geoLimits.pollMs`. */
  readonly pollMs?: number
}

export interface GeoFileStatus {
  readonly setting: GeoSetting
  readonly path: string
  /** The maker's name for it. This and the next three describe the tables in use; null: none. */
  readonly type: string | null
  /** Seconds since the Unix epoch. */
  readonly buildEpoch: number | null
  readonly networks: number | null
  readonly loadedAtMs: number | null
  /** Why the present file is not in use, or null. */
  readonly error: string | null
}

/** A changed file is read once two checks in a row have found the same version. */
interface Watched {
  readonly setting: GeoSetting
  readonly path: string
  seen: Fingerprint | undefined
  /** Fingerprint of the file last loaded or refused. */
  tried: Fingerprint | undefined
  loaded: GeoLoaded | null
  loadedAtMs: number | null
  error: string | null
}

/**
 * Countries come from `latency.geoipDBPath` when that works, else from `geoip.dbPath`: their rows
 * are equal in all databases. So do subdivisions, unless the database has none.
 */
export class GeoSource {
  readonly #parts: GeoSourceParts
  readonly #files: readonly Watched[]
  #buffers: GeoBuffers = noGeoBuffers
  #timer: NodeJS.Timeout | undefined
  #loading: GeoLoading | undefined
  #isStopped = false
  #isLooking = false
  #looking: Promise<void> = Promise.resolve()

  constructor(parts: GeoSourceParts) {
    this.#parts = parts
    const settings: readonly GeoSetting[] = ['geoip.dbPath', 'asn.dbPath', 'latency.geoipDBPath']
    const { paths } = parts
    this.#files = settings
      // The same file twice would make the same tables twice.
      .filter((name) => name !== 'latency.geoipDBPath' || paths[name] !== paths['geoip.dbPath'])
      .flatMap((setting) => {
        const path = paths[setting] ?? ''
        return path === '' ? [] : [watched(setting, path)]
      })
  }

  get buffers(): GeoBuffers {
    return this.#buffers
  }

  /**
   * Loads all files, then checks them periodically.
   *
   * @returns when each was loaded or refused
   */
  async start(): Promise<void> {
    await this.look()
    const { pollMs = geoLimits.pollMs } = this.#parts
    if (this.#isStopped || this.#files.length === 0) return
    this.#timer = setInterval(() => void this.look(), pollMs)
    this.#timer.unref()
  }

  status(): GeoFileStatus[] {
    return this.#files.map(({ setting, path, loaded, loadedAtMs, error }) => ({
      setting,
      path,
      type: loaded?.type ?? null,
      buildEpoch: loaded?.buildEpoch ?? null,
      networks: loaded?.networks ?? null,
      loadedAtMs,
      error,
    }))
  }

  /** Checks the files now; one look at a time, and a look during a load is that look. */
  look(): Promise<void> {
    if (this.#isLooking) return this.#looking
    this.#isLooking = true
    this.#looking = this.#lookAtAll().finally(() => {
      this.#isLooking = false
    })
    return this.#looking
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#timer)
    await this.#loading?.stop()
    await this.#looking
  }

  async #lookAtAll(): Promise<void> {
    let isChanged = false
    for (const file of this.#files) {
      if (await this.#lookAt(file)) isChanged = true
      if (this.#isStopped) return
    }
    if (!isChanged) return
    const of = (setting: GeoSetting): GeoBuffers =>
      this.#files.find((file) => file.setting === setting)?.loaded?.buffers ?? noGeoBuffers
    const place = of('geoip.dbPath')
    this.#buffers = {
      country: of('latency.geoipDBPath').country ?? place.country,
      subdivision: of('latency.geoipDBPath').subdivision ?? place.subdivision,
      asn: of('asn.dbPath').asn,
      location: place.location,
    }
    this.#parts.onChange(this.#buffers)
  }

  /** @returns true when there are new tables */
  async #lookAt(file: Watched): Promise<boolean> {
    const now = await fingerprintOf(file.path)
    const isFirst = file.seen === undefined
    const isSteady = file.seen === now
    file.seen = now
    if (this.#isStopped || now === file.tried || !(isFirst || isSteady)) return false
    file.tried = now
    if (isErrorCode(now)) {
      this.#refuse(file, sentenceOf(file.path, now))
      return false
    }
    return this.#load(file)
  }

  async #load(file: Watched): Promise<boolean> {
    const { clock, log } = this.#parts
    const { setting, path } = file
    const startedMs = clock.monotonicMs()
    const result = await this.#loadInThread({ setting, path })
    if (this.#isStopped) return false
    file.tried = result.fingerprint ?? file.tried
    if (!result.ok) {
      this.#refuse(file, result.error)
      return false
    }
    file.loaded = result
    file.loadedAtMs = clock.nowMs()
    file.error = null
    const { type, buildEpoch, networks, buffers } = result
    const tookMs = Math.round(clock.monotonicMs() - startedMs)
    const holds = Object.entries(buffers).flatMap(([name, part]) => (part === null ? [] : [name]))
    log.info({ setting, path, type, buildEpoch, networks, holds, tookMs }, 'geo database loaded')
    if (setting === 'geoip.dbPath' && buffers.location === null) {
      log.warn(
        { setting, path },
        'a geo database has countries and no places: services of the algorithm geo-ip take ' +
          'turns; get a City database for them, the filter geo-ip needs none',
      )
    }
    return true
  }

  #refuse(file: Watched, error: string): void {
    file.error = error
    const { setting, path, loaded } = file
    const rest = loaded === null ? 'there are no tables of it' : 'the tables before stay in use'
    this.#parts.log.error({ setting, path, error }, `a geo database is not loaded; ${rest}`)
  }

  async #loadInThread(request: GeoLoadRequest): Promise<GeoLoaded | GeoNotLoaded> {
    const loading = loadGeoInThread(request)
    this.#loading = loading
    const loaded = await loading.done
    if (this.#loading === loading) this.#loading = undefined
    return loaded
  }
}

function watched(setting: GeoSetting, path: string): Watched {
  return {
    setting,
    path,
    seen: undefined,
    tried: undefined,
    loaded: null,
    loadedAtMs: null,
    error: null,
  }
}
