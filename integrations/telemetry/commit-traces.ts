// Makes a trace of each commit that the API writes: from the request to the activation on the last
// node.
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { After } from '#lib/timer.ts'
import { telemetryLimits } from './limits.ts'
import { SpanKind, spanIdOf, traceIdOf } from './span.ts'
import type { Span, TraceContext } from './span.ts'

/** Unix epoch, with fractions. */
export interface Period {
  readonly startMs: number
  readonly endMs: number
}

/** A write of the API that has made a commit, or a part of one. */
export interface TracedWrite {
  readonly commit: string
  readonly requestId: string
  readonly stages: readonly (Period & { readonly name: string })[]
}

/** A request of the API, when its response is sent. */
export interface TracedRequest extends Period {
  readonly requestId: string
  readonly method: string
  /** Path in the table of routes; never that of the request, which names objects. */
  readonly route: string
  readonly status: number
  readonly client?: TraceContext
}

/** The bundle of a commit, active on this node. */
export interface OwnActivation extends Period {
  readonly commit: string
  readonly publisher: string
  readonly seq: number
  readonly digest: string
}

/** What a node says that it answers from. */
export interface NodeState {
  readonly name: string
  readonly role: string
  readonly publisher: string
  readonly seq: number
  readonly digest: string | null
}

export interface CommitTracesParts {
  /** Takes finished spans. */
  readonly add: (spans: readonly Span[]) => void
  /** Other nodes that are expected to follow, without those that are missing. */
  readonly nodes: () => readonly NodeState[]
  /** Name of this node. */
  readonly node: string
  readonly clock: Clock
  readonly after: After
}

interface Open {
  readonly commit: string
  readonly activation: OwnActivation | undefined
  startMs: number
  endMs: number
  /** Requests whose responses are under way. */
  readonly requests: Set<string>
  /** Nodes that do not have it yet, with their roles. */
  readonly waiting: Map<string, string>
  nodes: number
  endTimer: () => void
}

export class CommitTraces {
  readonly #parts: CommitTracesParts
  /** By commit, oldest first. */
  readonly #open = new Map<string, Open>()
  /** The last activations: an activation precedes the result of its write. */
  readonly #activations = new Map<string, OwnActivation>()

  constructor(parts: CommitTracesParts) {
    this.#parts = parts
  }

  activated(activation: OwnActivation): void {
    this.#activations.set(activation.commit, activation)
    const [oldest] = this.#activations.keys()
    const isOver = this.#activations.size > telemetryLimits.openMax
    if (isOver && oldest !== undefined) this.#activations.delete(oldest)
  }

  wrote({ commit, requestId, stages }: TracedWrite): void {
    const found = this.#open.get(commit)
    if (found !== undefined) return void found.requests.add(requestId)
    const open = this.#begin(commit, stages)
    open.requests.add(requestId)
    const spans = stages.map((stage, i) =>
      this.#span(open, `${stage.name} ${i}`, stage.name, stage, {}),
    )
    const { activation } = open
    if (activation !== undefined) {
      const attributes = { 'gslbd.node.name': this.#parts.node, 'gslbd.seq': activation.seq }
      spans.push(
        this.#span(open, `activate ${this.#parts.node}`, 'activate', activation, attributes),
      )
    }
    this.#parts.add(spans)
  }

  /** @returns the id of its trace; undefined: it wrote no commit, or that has ended */
  ended(request: TracedRequest): string | undefined {
    const { requestId, method, route, status, client } = request
    // A request that writes twice is a part of the last one.
    const all = [...this.#open.values()].filter(({ requests }) => requests.delete(requestId))
    for (const one of all) this.#endIfDone(one)
    const open = all.at(-1)
    if (open === undefined) return undefined
    const attributes = {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'gslbd.request.id': requestId,
    }
    const span = this.#span(open, `request ${requestId}`, `${method} ${route}`, request, attributes)
    const link = client === undefined ? {} : { link: client }
    this.#parts.add([{ ...span, kind: SpanKind.server, ...link }])
    return span.traceId
  }

  /** To be called with each report of a node. */
  heard(node: NodeState): void {
    const nowMs = this.#parts.clock.nowMs()
    for (const open of [...this.#reachedBy(node)]) {
      const role = open.waiting.get(node.name)
      if (role === undefined) continue
      open.waiting.delete(node.name)
      const { name, seq } = node
      const attributes = { 'gslbd.node.name': name, 'gslbd.node.role': role, 'gslbd.seq': seq }
      const startMs = open.activation?.endMs ?? open.startMs
      const period = { startMs, endMs: Math.max(startMs, nowMs) }
      this.#parts.add([this.#span(open, `activate ${name}`, 'activate', period, attributes)])
      this.#endIfDone(open)
    }
  }

  /** Ends all, with what is known of them. */
  close(): void {
    for (const open of [...this.#open.values()]) this.#end(open)
  }

  #begin(commit: string, stages: TracedWrite['stages']): Open {
    const [oldest] = this.#open.values()
    if (oldest !== undefined && this.#open.size >= telemetryLimits.openMax) this.#end(oldest)
    const activation = this.#activations.get(commit)
    this.#activations.delete(commit)
    const { clock, after } = this.#parts
    const nowMs = clock.nowMs()
    const open: Open = {
      ...{ commit, activation, requests: new Set() },
      startMs: stages[0]?.startMs ?? nowMs,
      endMs: activation?.endMs ?? stages.at(-1)?.endMs ?? nowMs,
      waiting: new Map(),
      nodes: 0,
      endTimer: after(telemetryLimits.openMs, () => this.#end(open)),
    }
    this.#open.set(commit, open)
    // Later, since a list of many nodes must not delay the response.
    after(0, () => this.#follow(open))
    return open
  }

  #follow(open: Open): void {
    if (open.activation === undefined || !this.#open.has(open.commit)) return
    const nodes = this.#parts.nodes().filter(({ name }) => name !== this.#parts.node)
    open.nodes = nodes.length
    const followers = nodes.slice(0, telemetryLimits.nodesMax)
    for (const { name, role } of followers) open.waiting.set(name, role)
    // Some were quicker.
    for (const node of followers) this.heard(node)
  }

  /**
   * Commits that the node answers from, or from a later one. Another control node signs with a key
   * of its own: it has the commit whose bundle it has, and those before.
   */
  #reachedBy({ publisher, seq, digest }: NodeState): readonly Open[] {
    const all = [...this.#open.values()]
    const same = all.findLastIndex(({ activation }) => activation?.digest === digest)
    return all.filter(
      ({ activation }, i) =>
        i <= same || (activation?.publisher === publisher && activation.seq <= seq),
    )
  }

  #endIfDone(open: Open): void {
    if (!isDone(open)) return
    open.endTimer()
    const { after } = this.#parts
    open.endTimer = after(telemetryLimits.graceMs, () => {
      if (isDone(open)) this.#end(open)
      else open.endTimer = after(telemetryLimits.openMs, () => this.#end(open))
    })
  }

  #end(open: Open): void {
    assert(this.#open.delete(open.commit), 'a trace ends once')
    open.endTimer()
    const { commit, startMs, endMs, nodes, waiting, activation } = open
    const away = waiting.size === 0 ? {} : { 'gslbd.nodes.waiting': waiting.size }
    const fault = activation === undefined ? { fault: 'the bundle is not active on this node' } : {}
    this.#parts.add([
      {
        ...{ traceId: traceIdOf(commit), spanId: spanIdOf(commit, 'write'), parentSpanId: '' },
        ...{ name: 'write', kind: SpanKind.internal, startMs, endMs, ...fault },
        attributes: { 'gslbd.commit': commit, 'gslbd.nodes': nodes + 1, ...away },
      },
    ])
  }

  /** A part of the trace; the root is as long as all of them. */
  #span(
    open: Open,
    what: string,
    name: string,
    { startMs, endMs }: Period,
    attributes: Span['attributes'],
  ): Span {
    const { commit } = open
    open.startMs = Math.min(open.startMs, startMs)
    open.endMs = Math.max(open.endMs, endMs)
    return {
      ...{ traceId: traceIdOf(commit), spanId: spanIdOf(commit, what) },
      ...{ parentSpanId: spanIdOf(commit, 'write'), kind: SpanKind.internal },
      ...{ name, startMs, endMs, attributes },
    }
  }
}

const isDone = ({ requests, waiting }: Open): boolean => requests.size === 0 && waiting.size === 0
