// A model of external-dns as its documents describe it: a source, the registry of TXT records, and
// the plan that compares what is wanted with what is there. It says only what the real one says.
import { expect } from 'vitest'
import type { FastifyInstance } from 'fastify'
import { expectToFit, mediaType } from './external-dns-document.ts'

export interface ModelEndpoint {
  readonly dnsName: string
  readonly recordType: string
  readonly targets?: readonly string[]
  readonly setIdentifier?: string
  readonly recordTTL?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly providerSpecific?: readonly { readonly name: string; readonly value: string }[]
}

interface Change {
  readonly create: ModelEndpoint[]
  readonly updateOld: ModelEndpoint[]
  readonly updateNew: ModelEndpoint[]
  readonly delete: ModelEndpoint[]
}

export interface ModelOptions {
  /** `--txt-owner-id` */
  readonly owner: string
  /** Minor version of 0.x: what it sends differs. */
  readonly minor?: number
  /** `--txt-prefix`, may have `%{record_type}`. */
  readonly prefix?: string
  readonly headers?: Readonly<Record<string, string>>
}

interface Synced {
  readonly status: number
  readonly error: string
  /** How many endpoints it sent; 0: it saw no difference, and sent nothing. */
  readonly sent: number
}

const heritage = 'heritage=external-dns'
const supported = ['a', 'aaaa', 'cname', 'ns', 'mx', 'srv', 'naptr']

export class ExternalDnsModel {
  readonly #app: FastifyInstance
  readonly #options: ModelOptions
  /** Ownership records that were there: since 0.19 they are not created once more. */
  readonly #texts = new Set<string>()

  constructor(app: FastifyInstance, options: ModelOptions) {
    this.#app = app
    this.#options = options
  }

  /** One round of its loop, with `--policy=sync`. */
  async sync(wanted: readonly ModelEndpoint[]): Promise<Synced> {
    const current = this.#withOwners(await this.#get('/records'))
    const desired = await this.#post<ModelEndpoint[]>('/adjustendpoints', wanted, 200)
    const done = await this.apply(this.#planned(current, desired))
    if (done.sent > 0) this.#texts.clear()
    return done
  }

  async records(): Promise<readonly ModelEndpoint[]> {
    return await this.#get('/records')
  }

  async apply(change: Change): Promise<Synced> {
    const sent = Object.values(change).flat().length
    if (sent === 0) return { status: 0, error: '', sent }
    const answer = await this.#send('POST', '/records', this.#written(change))
    const { error = '' } = answer.text === '' ? {} : (JSON.parse(answer.text) as { error?: string })
    return { status: answer.status, error, sent }
  }

  /** Go's encoder writes names as the types of that version have them. */
  #written(change: Change): object {
    if ((this.#options.minor ?? 21) >= 17) {
      return Object.fromEntries(
        Object.entries(change).filter(([, list]: [string, ModelEndpoint[]]) => list.length > 0),
      )
    }
    const named = Object.entries(change).map(([name, list]: [string, ModelEndpoint[]]) => [
      name[0]!.toUpperCase() + name.slice(1),
      list.length === 0 ? null : list,
    ])
    return Object.fromEntries(named) as object
  }

  #planned(current: readonly ModelEndpoint[], desired: readonly ModelEndpoint[]): Change {
    const change: Change = { create: [], updateOld: [], updateNew: [], delete: [] }
    const rowOf = ({ dnsName, setIdentifier = '' }: ModelEndpoint) => `${dnsName} ${setIdentifier}`
    const isOwn = ({ labels }: ModelEndpoint) => labels?.['owner'] === this.#options.owner
    const rows = new Set([...current, ...desired].map(rowOf))
    for (const row of rows) {
      const before = current.filter((one) => rowOf(one) === row && one.recordType !== 'TXT')
      const after = desired.filter((one) => rowOf(one) === row)
      const isTaken = before.some((one) => !isOwn(one))
      for (const one of after) {
        const old = before.find(({ recordType }) => recordType === one.recordType)
        if (old === undefined && !isTaken) change.create.push(this.#owned(one))
        if (old === undefined || !isOwn(old) || isSame(old, one)) continue
        change.updateOld.push(old)
        change.updateNew.push({ ...one, labels: { ...one.labels, ...old.labels } })
      }
      for (const one of before.filter(isOwn)) {
        if (after.every(({ recordType }) => recordType !== one.recordType)) change.delete.push(one)
      }
    }
    for (const list of Object.values(change) as ModelEndpoint[][]) {
      const texts = list.flatMap((one) => this.#registryRecords(one))
      list.push(...texts.filter((one) => list !== change.create || !this.#texts.has(textKey(one))))
    }
    return change
  }

  #owned(one: ModelEndpoint): ModelEndpoint {
    return { ...one, labels: { ...one.labels, owner: this.#options.owner } }
  }

  #registryRecords(one: ModelEndpoint): ModelEndpoint[] {
    const { minor = 21, prefix = '' } = this.#options
    const labels = Object.entries(one.labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
    const text = [heritage, ...labels.map(([key, value]) => `external-dns/${key}=${value}`)].join()
    // Since a type in the prefix says it, such a record has no older form.
    const isLegacy = minor < 18 && one.recordType !== 'AAAA' && !prefix.includes('%{record_type}')
    const names = [this.#textName(one, true), ...(isLegacy ? [this.#textName(one, false)] : [])]
    return names.map((dnsName) => ({
      ...{ dnsName, recordType: 'TXT', targets: [`"${text}"`] },
      ...(one.setIdentifier === undefined ? {} : { setIdentifier: one.setIdentifier }),
      ...(one.providerSpecific === undefined ? {} : { providerSpecific: one.providerSpecific }),
      labels: { ownedRecord: one.dnsName },
    }))
  }

  #textName({ dnsName, recordType }: ModelEndpoint, hasType: boolean): string {
    const { prefix = '' } = this.#options
    const type = recordType.toLowerCase()
    if (prefix.includes('%{record_type}')) {
      return prefix.replace('%{record_type}', hasType ? type : '') + dnsName
    }
    return prefix + (hasType ? `${type}-` : '') + dnsName
  }

  #withOwners(records: readonly ModelEndpoint[]): readonly ModelEndpoint[] {
    const labels = new Map<string, Readonly<Record<string, string>>>()
    const { minor = 21 } = this.#options
    // 0.19 forgets them after a change alone (kubernetes-sigs/external-dns#5897).
    if (minor !== 19) this.#texts.clear()
    for (const { dnsName, recordType, targets = [], setIdentifier = '' } of records) {
      const text = (targets[0] ?? '').replaceAll('"', '')
      if (recordType !== 'TXT' || !text.startsWith(heritage)) continue
      if (minor >= 19) this.#texts.add(textKey({ dnsName, setIdentifier }))
      const fields = text.split(',').slice(1)
      const own = fields.map((one) => one.replace('external-dns/', '').split('=', 2))
      labels.set(
        `${this.#ownedName(dnsName)} ${setIdentifier}`,
        Object.fromEntries(own) as Record<string, string>,
      )
    }
    return records.map((one) => {
      const found = labels.get(`${one.recordType} ${one.dnsName} ${one.setIdentifier ?? ''}`)
      const legacy = labels.get(` ${one.dnsName} ${one.setIdentifier ?? ''}`)
      return { ...one, labels: found ?? legacy ?? {} }
    })
  }

  /** Type and name, by the name of a TXT record. */
  #ownedName(textName: string): string {
    const { prefix = '' } = this.#options
    const parts = prefix.split('%{record_type}')
    if (parts.length === 2) {
      const type = supported.find((one) => textName.startsWith(parts.join(one)))
      return `${type?.toUpperCase() ?? ''} ${textName.slice(parts.join(type ?? '').length)}`
    }
    const rest = textName.slice(prefix.length)
    const type = supported.find((one) => rest.startsWith(`${one}-`))
    return type === undefined ? ` ${rest}` : `${type.toUpperCase()} ${rest.slice(type.length + 1)}`
  }

  async #get(path: string): Promise<readonly ModelEndpoint[]> {
    const { status, text } = await this.#send('GET', path)
    expect([status, status === 200 ? '' : text]).toEqual([200, ''])
    return JSON.parse(text) as ModelEndpoint[]
  }

  async #post<T>(path: string, body: unknown, wanted: number): Promise<T> {
    const { status, text } = await this.#send('POST', path, body)
    expect([status, status === wanted ? '' : text]).toEqual([wanted, ''])
    return JSON.parse(text) as T
  }

  async #send(method: 'GET' | 'POST', url: string, body?: unknown) {
    const answer = await this.#app.inject({
      ...{ method, url },
      headers: {
        ...this.#options.headers,
        ...(url === '/records' && method === 'POST' ? {} : { accept: mediaType }),
        ...(body === undefined ? {} : { 'content-type': mediaType }),
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    })
    expectToFit(method, url, body, answer)
    return { status: answer.statusCode, text: answer.payload }
  }
}

function textKey({
  dnsName,
  setIdentifier = '',
}: Pick<ModelEndpoint, 'dnsName' | 'setIdentifier'>) {
  return `${dnsName} ${setIdentifier}`
}

function isSame(current: ModelEndpoint, wanted: ModelEndpoint): boolean {
  const targets = ({ targets: list = [] }: ModelEndpoint) => JSON.stringify([...list].sort())
  const properties = ({ providerSpecific: list = [] }: ModelEndpoint) =>
    JSON.stringify(list.map(({ name, value }) => `${name}=${value}`).sort())
  const { recordTTL = 0 } = wanted
  const isSameTtl = recordTTL === 0 || recordTTL === current.recordTTL
  return (
    isSameTtl && targets(current) === targets(wanted) && properties(current) === properties(wanted)
  )
}
