// Pulls the bundles of a node of the role dns alone: the configuration, and on its own channel the
// TXT records written at run time.
import { randomInt } from 'node:crypto'
import type { Settings } from '#settings/settings.ts'
import type { ChannelRecord } from '#bundle/signature/channel.ts'
import { Puller } from '#fleet/puller.ts'
import type { Pulled, PulledShadow, PullerParts, PullStatus } from '#fleet/puller.ts'
import { reportLimits } from '#fleet/nodes/node-report.ts'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { Random } from '#lib/random.ts'
import { systemAfter } from '#lib/timer.ts'
import type { BundleStore } from '#server/node/bundle-store.ts'
import type { HealthMonitor } from '#health/view/monitor.ts'
import type { DnsNode } from '#server/node/node.ts'
import type { PulledTexts } from '#server/texts/pulled-texts.ts'
import { textsChannel } from '#server/texts/texts-bundle.ts'

interface PullersParts {
  readonly settings: Pick<Settings, 'bundle'>
  readonly token: string | null
  readonly node: DnsNode
  /** Receives reports of other nodes and agents; null: it does not. */
  readonly health: Pick<HealthMonitor, 'permitAgents'> | null
  readonly store: BundleStore
  /** TXT records written at run time, and their store; null: the node answers no DNS. */
  readonly texts: { readonly pulled: PulledTexts; readonly store: BundleStore } | null
  readonly report: (pulled: Pulled) => NodeReport
  /** The report as it is sent. */
  readonly sealed: (report: NodeReport) => object
  /** Left out: the node computes with one bundle only. */
  readonly shadow?: PulledShadow
  /** Called when all threads answer from another bundle. */
  readonly onActivated: () => void
  readonly log: Log
}

/** Handles both pullers as one. */
export class Pullers {
  readonly #main: Puller
  readonly #texts: Puller | null

  constructor(parts: PullersParts) {
    const { node, health, store, texts, settings } = parts
    const { channel } = settings.bundle
    // Called before a source answers, too: the stored record has the number.
    const permit = (): void => health?.permitAgents(node.status().active?.agentsMax ?? Infinity)
    permit()
    this.#main = new Puller({
      ...common(parts, store),
      channel,
      judge: (signed) => node.judge(signed),
      isServing: (record) => isSame(record, node.status().active ?? undefined),
      servingDigest: () => node.status().active?.digest ?? '',
      activate: async (publication) => {
        const activated = await node.activate(publication)
        permit()
        if (activated.ok && activated.value === 'activated') parts.onActivated()
        return activated
      },
      report: () => parts.report(this.pulled()),
      sealed: parts.sealed,
      ...(parts.shadow === undefined ? {} : { shadow: parts.shadow }),
    })
    this.#texts = texts === null ? null : textsPuller(parts, texts)
  }

  start(): void {
    this.#main.start()
    this.#texts?.start()
  }

  async stop(): Promise<void> {
    await Promise.all([this.#main.stop(), this.#texts?.stop()])
  }

  /** Asks the sources now, also those that pause after a fault. */
  askAgain(): void {
    this.#main.askAgain()
    this.#texts?.askAgain()
  }

  /** State of the main puller, with the refusals of both, oldest first. */
  pulled(): Pulled {
    const [main, texts] = [this.#main.pulled(), this.#texts?.pulled()]
    if (texts === undefined) return main
    const refusals = [...main.refusals, ...texts.refusals].sort((a, b) => a.atMs - b.atMs)
    const isRefusing = main.isRefusing || texts.isRefusing
    return { ...main, isRefusing, refusals: refusals.slice(-reportLimits.refusalsMax) }
  }

  /** State of the configuration's sources; counters are of both pullers. */
  status(): PullStatus {
    const [main, texts] = [this.#main.status(), this.#texts?.status()]
    if (texts === undefined) return main
    const pulls: Record<string, number> = { ...main.pulls }
    for (const [how, count] of Object.entries(texts.pulls)) pulls[how] = (pulls[how] ?? 0) + count
    return {
      ...main,
      pulls,
      wireBytes: main.wireBytes + texts.wireBytes,
      deltas: {
        used: main.deltas.used + texts.deltas.used,
        useless: main.deltas.useless + texts.deltas.useless,
      },
    }
  }

  /** True when no source gives TXT records, for whatever reason. */
  areTextsLost(): boolean {
    return this.#texts?.status().sources.every(({ fault }) => fault !== null) ?? false
  }
}

function textsPuller(
  parts: PullersParts,
  { pulled, store }: NonNullable<PullersParts['texts']>,
): Puller {
  return new Puller({
    ...common(parts, store),
    channel: textsChannel(parts.settings.bundle.channel),
    // A control node of an older version, or a plain web server, lacks this channel.
    mayBeAbsent: true,
    judge: (signed) => pulled.judge(signed),
    isServing: (record) => isSame(record, pulled.record),
    servingDigest: () => pulled.record?.digest ?? '',
    activate: (publication) => pulled.activate(publication),
  })
}

type Common = 'urls' | 'token' | 'pollMs' | 'stored' | 'storedPath' | 'clock' | 'after' | 'random'

function common(
  { settings: { bundle }, token, log }: PullersParts,
  store: BundleStore,
): Pick<PullerParts, Common | 'log'> {
  return {
    urls: bundle.urls,
    token,
    pollMs: bundle.pollMs,
    stored: (digest) => {
      const bytes = store.bundle(digest)
      return bytes.ok ? bytes.value : undefined
    },
    storedPath: (digest) => store.bundlePath(digest),
    clock: systemClock,
    after: systemAfter,
    random: new Random(randomInt(0x1_0000_0000)),
    log,
  }
}

const isSame = (
  { seq, digest, expiresAtMs, agentsMax }: ChannelRecord,
  active: ChannelRecord | undefined,
): boolean =>
  active !== undefined &&
  active.seq === seq &&
  active.digest === digest &&
  active.agentsMax === agentsMax &&
  active.expiresAtMs === expiresAtMs
