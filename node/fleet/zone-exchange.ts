// Serves secondary servers from a node of the role dns alone: reads their keys, and notifies them
// of changes.
import { readTsigKeyFile } from '#zones/exchange/tsig-key-file.ts'
import { watchMissingGeo } from '#server/node/missing-geo.ts'
import {
  notifiedZones,
  notifyKeyOf,
  notifySourceOf,
  notifyTargetsOf,
  transfersOf,
  watchZones,
} from '#node/compose/transfers.ts'
import type { Settings } from '#settings/settings.ts'
import { formatName } from '#dns/name.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import { Notifier } from '#zones/notify/notifier.ts'
import type { DnsNode } from '#server/node/node.ts'

export class ZoneExchange {
  readonly #settings: Settings['dns']
  readonly #node: DnsNode
  readonly #log: Log
  readonly notifier: Notifier
  #keys: readonly TsigKey[] = []

  constructor(settings: Settings['dns'], node: DnsNode, log: Log) {
    this.#settings = settings
    this.#node = node
    this.#log = log
    const wanted = notifyKeyOf(settings)
    const { catalog } = transfersOf(settings)
    this.notifier = new Notifier({
      targets: settings.axfr.enabled ? notifyTargetsOf(settings) : [],
      source: notifySourceOf(settings),
      keyName: settings.axfr.notifyKey,
      zones: () => notifiedZones(node.bundle(), catalog),
      key: () => wanted && this.#keys.find(({ name }) => Buffer.compare(name, wanted) === 0),
      nowMs: systemClock.nowMs,
      after: systemAfter,
      log,
    })
    const watch = watchZones(settings, log)
    const watchGeo = watchMissingGeo(node, log)
    node.onServed(() => {
      watch(node.bundle())
      watchGeo()
      this.notifier.changed()
    })
  }

  /** Errors: a sentence for the operator; the keys stay as they were. */
  readKeys(): Result<null, string> {
    const { keysFile } = this.#settings.tsig
    if (keysFile === undefined) return ok(null)
    const keys = readTsigKeyFile(keysFile)
    if (!keys.ok) return err(`dns.tsig.keysFile: ${keys.error}`)
    this.#keys = keys.value
    const known = keys.value.map((key) => ({
      ...{ ...key, id: formatName(key.name) },
      ...{ scope: null, mayTransfer: true },
    }))
    this.#node.setKeys(known)
    this.#log.info({ keys: known.length }, 'TSIG keys are read')
    return ok(null)
  }

  /** Reads the keys again at SIGHUP; a fault is logged. */
  rereadKeys(): void {
    const read = this.readKeys()
    if (!read.ok) this.#log.error({}, `${read.error}; the keys before stay`)
  }
}
