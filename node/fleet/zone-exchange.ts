// Serves secondary servers from a node of the role dns alone: reads their keys, and notifies them
// of changes.
import { readTsigKeyFile } from '#zones/exchange/tsig-key-file.ts'
import { announceBundles } from '#node/compose/transfers.ts'
import type { Settings } from '#settings/settings.ts'
import { formatName } from '#dns/name.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Notifier } from '#zones/notify/notifier.ts'
import type { DnsNode } from '#server/node/node.ts'

export class ZoneExchange {
  readonly #settings: Settings['dns']
  readonly #node: DnsNode
  readonly #log: Log
  readonly notifier: Notifier
  #keys: readonly TsigKey[] = []

  constructor(settings: Pick<Settings, 'dns' | 'roles'>, node: DnsNode, log: Log) {
    this.#settings = settings.dns
    this.#node = node
    this.#log = log
    const find = (wanted: Uint8Array) =>
      this.#keys.find(({ name }) => Buffer.compare(name, wanted) === 0)
    this.notifier = announceBundles(settings, node, find, log)
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
