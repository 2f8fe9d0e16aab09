// Clients of the APIs: each has its own objects, of which no acknowledged write may be lost, and
// writes valid and invalid requests to shared objects.
import type { Random } from '#lib/random.ts'
import { callApi } from '#test/support/api-client.ts'
import type { ApiReply } from '#test/support/api-client.ts'

export interface ApiNode {
  readonly name: string
  readonly apiPort: number
}

/** Services of a tenant that all clients write to, Git included. */
export const sharedCount = 3
export const sharedName = (tenant: string, i: number): string => `${tenant}-shared${i}`
/** A name that no other service may take. */
const takenDomain = (tenant: string): string => `${sharedName(tenant, 0)}.example.com.`

export class Tally {
  readonly counts = new Map<string, number>()
  /** Violations, in words; the first ones are shown. */
  readonly faults: string[] = []

  add(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  fault(words: string): void {
    this.faults.push(words)
  }
}

interface LaneParts {
  readonly nodes: readonly [ApiNode, ...ApiNode[]]
  /** Credentials by node name. */
  readonly bearers: ReadonlyMap<string, string>
  readonly tenant: string
  readonly name: string
  readonly random: Random
  readonly tally: Tally
}

type Body = { readonly id?: string; readonly error?: string }

/** The client cannot know whether the write was done. */
const isUnsure = ({ status }: ApiReply<Body>): boolean => status === 500
/** Refused while others are faster, or while the head is refused. */
const isPut = (status: number): boolean => status === 503 || status === 409

export class ApiLane {
  readonly #parts: LaneParts
  /** TTLs of acknowledged services by name; null: deleted. */
  readonly own = new Map<string, number | null>()
  #made = 0

  constructor(parts: LaneParts) {
    this.#parts = parts
  }

  /** @param untilMs by `performance.now()` */
  async run(untilMs: number): Promise<void> {
    const acts = [this.#create, this.#change, this.#change, this.#remove, this.#race, this.#race]
    while (performance.now() < untilMs) await acts[this.#below(acts.length)]!.call(this)
  }

  async #create(): Promise<void> {
    const { tenant, name } = this.#parts
    const service = `${name}-${++this.#made}`
    const ttl = 1 + this.#below(900)
    const body = {
      ...{ name: service, domain: `${service}.example.com.`, ttl, poolId: `${tenant}-pool` },
      ...{ algorithm: 'round-robin', answerCount: 16 },
    }
    const reply = await this.#call('own create', 'POST', '/services', body)
    if (reply.status === 201) this.own.set(service, ttl)
    else this.#expectPut('POST of a service', reply)
  }

  async #change(): Promise<void> {
    const service = this.#some()
    if (service === undefined) return
    const ttl = 1 + this.#below(900)
    const reply = await this.#call('own change', 'PATCH', `/services/${service}`, { ttl })
    if (reply.status === 200) this.own.set(service, ttl)
    else if (isUnsure(reply)) this.own.delete(service)
    else this.#expectPut(`PATCH of ${service}`, reply)
  }

  async #remove(): Promise<void> {
    const service = this.#some()
    if (service === undefined || this.own.size < 4) return
    const reply = await this.#call('own delete', 'DELETE', `/services/${service}`)
    if (reply.status === 204) this.own.set(service, null)
    else if (isUnsure(reply)) this.own.delete(service)
    else this.#expectPut(`DELETE of ${service}`, reply)
  }

  /** Sends valid and invalid requests at the same time to both nodes, mostly for one object. */
  async #race(): Promise<void> {
    const count = 2 + this.#below(4)
    await Promise.all(Array.from({ length: count }, () => this.#shared()))
  }

  async #shared(): Promise<void> {
    const { tenant } = this.#parts
    const path = `/services/${sharedName(tenant, this.#below(2) + 1)}`
    const good = [
      { ttl: 1 + this.#below(900) },
      { algorithm: ['round-robin', 'weighted-round-robin'][this.#below(2)] },
      { poolId: this.#below(2) === 0 ? `${tenant}-pool` : `${tenant}-git` },
    ]
    const bad = [
      { domain: takenDomain(tenant) },
      { domain: 'no name' },
      { poolId: 'nowhere' },
      { ttl: 7, algorithm: 'none' },
    ]
    const isBad = this.#below(2) === 0
    const of: readonly object[] = isBad ? bad : good
    const what = isBad ? 'shared bad' : 'shared good'
    const reply = await this.#call(what, 'PATCH', path, of[this.#below(of.length)])
    if (isBad && reply.status < 400) this.#parts.tally.fault(`a bad request is ${reply.status}`)
    if (!isBad && reply.status !== 200) this.#expectPut(`PATCH of ${path}`, reply)
  }

  #expectPut(what: string, { status, body }: ApiReply<Body>): void {
    if (!isPut(status)) this.#parts.tally.fault(`${what} is ${status}: ${body.error ?? ''}`)
  }

  async #call(what: string, method: string, path: string, body?: object): Promise<ApiReply<Body>> {
    const { nodes, bearers, tally } = this.#parts
    // A client's own object is read from its own node: the other one may not have it yet.
    const isOwn = what.startsWith('own')
    const node = isOwn ? nodes[0] : nodes[this.#below(nodes.length)]!
    const call = { bearer: bearers.get(node.name) ?? '', ...(body && { body }) }
    const reply = await callApi<Body>(node, method, path, call)
    tally.add(`API, ${what}: ${reply.status}`)
    return reply
  }

  #some(): string | undefined {
    const there = [...this.own].flatMap(([name, ttl]) => (ttl === null ? [] : [name]))
    return there[this.#below(there.length || 1)]
  }

  #below(limit: number): number {
    return this.#parts.random.next() % limit
  }
}
