// Makes a trace of each commit: from the request of the API, or from the look that finds it on the
// branch, to the activation on the last node.
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { After } from '#lib/timer.ts'
import { telemetryLimits } from './limits.ts'
import { SpanKind, spanIdOf, traceIdOf } from './span.ts'
import type { Span, TraceContext } from './span.ts'

/** Unix epoch, with fractions. */
interface Period {
  readonly startMs: number
  readonly endMs: number
}

/** A write of the API that has made a commit, or a part of one. */
interface TracedWrite {
  readonly commit: string
  readonly requestId: string
  readonly stages: readonly (Period & { readonly name: string })[]
}

/** A look at the branch that has judged its head. */
interface TracedLook {
  readonly commit: string
  readonly steps: readonly (Period & { readonly name: string })[]
  /** Why its last step holds the commit; '': it is accepted, and is to be activated. */
  readonly fault: string
}

/** A request of the API, when its response is sent. */
interface TracedRequest extends Period {
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

interface CommitTracesParts {
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
  readonly name: 'write' | 'follow'
  /** Tells its spans from those that other nodes have of the same commit. */
  readonly mark: string
  activation: OwnActivation | undefined
  fault: string
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
  /** The last activations of commits that are not open: a write is told of after its own. */
  readonly #activations = new Map<string, OwnActivation>()

  constructor(parts: CommitTracesParts) {
    this.#parts = parts
  }

  activated(activation: OwnActivation): void {
    const open = this.#open.get(activation.commit)
    if (open !== undefined && open.activation === undefined) {
      return this.#activate(open, activation)
    }
    this.#activations.set(activation.commit, activation)
    const [oldest] = this.#activations.keys()
    const isOver = this.#activations.size > telemetryLimits.openMax
    if (isOver && oldest !== undefined) this.#activations.delete(oldest)
  }

  wrote({ commit, requestId, stages }: TracedWrite): void {
    const found = this.#open.get(commit)
    if (found !== undefined) return void found.requests.add(requestId)
    const open = this.#begin({ commit, name: 'write', mark: '' }, stages)
    open.requests.add(requestId)
    this.#activate(open, this.#activations.get(commit))
    this.#activations.delete(commit)
  }

  /** Not of a commit that `wrote` has told of: the branch has it from here. */
  looked({ commit, steps, fault }: TracedLook): void {
    if (this.#open.has(commit)) return
    // Each control node makes spans of its own, and a held commit may be judged again.
    const mark = `${this.#parts.node} ${steps[0]?.startMs ?? 0} `
    const open = this.#begin({ commit, name: 'follow', mark }, steps, fault)
    if (fault !== '') return this.#end(open)
    this.#activate(open, this.#activations.get(commit))
    this.#activations.delete(commit)
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

  #begin(
    which: Pick<Open, 'commit' | 'name' | 'mark'>,
    stages: TracedWrite['stages'],
    fault = '',
  ): Open {
    const [oldest] = this.#open.values()
    if (oldest !== undefined && this.#open.size >= telemetryLimits.openMax) this.#end(oldest)
    const { clock, after } = this.#parts
    const nowMs = clock.nowMs()
    const open: Open = {
      ...{ ...which, activation: undefined, fault, requests: new Set() },
      startMs: stages[0]?.startMs ?? nowMs,
      endMs: stages.at(-1)?.endMs ?? nowMs,
      waiting: new Map(),
      nodes: 0,
      endTimer: after(telemetryLimits.openMs, () => this.#end(open)),
    }
    this.#open.set(open.commit, open)
    const spans = stages.map((stage, i) => {
      const span = this.#span(open, `${stage.name} ${i}`, stage.name, stage, {})
      return fault !== '' && i === stages.length - 1 ? { ...span, fault } : span
    })
    this.#parts.add(spans)
    return open
  }

  /** @param activation undefined: it is under way, or has failed */
  #activate(open: Open, activation: OwnActivation | undefined): void {
    if (activation === undefined) return
    open.activation = activation
    const { node, add, after } = this.#parts
    const attributes = { 'gslbd.node.name': node, 'gslbd.seq': activation.seq }
    add([this.#span(open, `activate ${node}`, 'activate', activation, attributes)])
    // Later, since a list of many nodes must not delay the response.
    after(0, () => this.#expect(open, activation))
  }

  #expect(open: Open, { publisher }: OwnActivation): void {
    if (this.#open.get(open.commit) !== open) return
    const isExpected = (node: NodeState): boolean =>
      node.name !== this.#parts.node &&
      // Another control node finds the commit by itself, and tells of those that pull from it.
      (open.name === 'write' || node.publisher === publisher)
    const nodes = this.#parts.nodes().filter(isExpected)
    open.nodes = nodes.length
    const followers = nodes.slice(0, telemetryLimits.nodesMax)
    for (const { name, role } of followers) open.waiting.set(name, role)
    // Some were quicker.
    for (const node of followers) this.heard(node)
    this.#endIfDone(open)
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
    const { commit, name, startMs, endMs, nodes, waiting, activation } = open
    const away = waiting.size === 0 ? {} : { 'gslbd.nodes.waiting': waiting.size }
    const finder = name === 'follow' ? { 'gslbd.node.name': this.#parts.node } : {}
    const fault = open.fault || (activation === undefined ? notActive : '')
    this.#parts.add([
      {
        ...{ traceId: traceIdOf(commit), spanId: rootIdOf(open), parentSpanId: '' },
        ...{ name, kind: SpanKind.internal, startMs, endMs, ...(fault === '' ? {} : { fault }) },
        attributes: { 'gslbd.commit': commit, ...finder, 'gslbd.nodes': nodes + 1, ...away },
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
    const { commit, mark } = open
    open.startMs = Math.min(open.startMs, startMs)
    open.endMs = Math.max(open.endMs, endMs)
    return {
      ...{ traceId: traceIdOf(commit), spanId: spanIdOf(commit, mark + what) },
      ...{ parentSpanId: rootIdOf(open), kind: SpanKind.internal },
      ...{ name, startMs, endMs, attributes },
    }
  }
}

const notActive = 'the bundle is not active on this node'

const rootIdOf = ({ commit, mark, name }: Open): string => spanIdOf(commit, mark + name)

/** The activation of a commit that was found is still under way; that of a write has been. */
const isDone = ({ name, activation, requests, waiting }: Open): boolean =>
  requests.size === 0 && waiting.size === 0 && (name === 'write' || activation !== undefined)
