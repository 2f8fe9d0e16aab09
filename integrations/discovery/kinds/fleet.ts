// fleet: what a control node found by its source of the same name, read from Redis.
import { err, ok } from '#lib/result.ts'
import type { DiscoveryKind } from '#integrations/targets/kind.ts'
import { readTargets } from '#integrations/targets/fleet-document.ts'

/** The cursor is the time of the shared document, and the key that signed it. */
export const fleet: DiscoveryKind = {
  name: 'fleet',
  needs: [],
  service: 'any',
  create: ({ name }, { fleet: from, nowMs }) => {
    /** By key, since each node tells by its own clock. */
    const newestMs = new Map<string, number>()
    return async ({ cursor, service }) => {
      if (from === undefined) return err('this node reads nothing from Redis')
      const key = `${name}/${service}`
      let text: string | null
      try {
        text = await from.read(key)
      } catch (error) {
        return err(`what is shared cannot be read: ${(error as Error).message}`)
      }
      if (text === null) return err(nobody(key))
      const read = readTargets(text, key, from.signerOf)
      if (!read.ok) return err(`${key}: ${read.error}`)
      const { atMs, freshMs, targets, signer } = read.value
      // What came later would be older than it, for as long as the clock was ahead.
      if (atMs > nowMs() + skewMs) return err(`${key}: the clock of who told it is ahead`)
      // Somebody who can write there could put back what was signed before.
      const oldestMs = Math.max(newestMs.get(signer) ?? 0, ...[...newestMs.values()].map(before))
      if (atMs < oldestMs) return err(`${key}: it is older than what was there before`)
      newestMs.set(signer, atMs)
      if (nowMs() - atMs > freshMs) {
        return err(`no control node has found it since ${new Date(atMs).toISOString()}`)
      }
      const mark = `${atMs} ${signer}`
      return ok({ targets: mark === cursor ? null : targets, cursor: mark })
    }
  },
}

/** How much the clocks of nodes may differ. */
const skewMs = 300_000

const before = (atMs: number): number => atMs - skewMs

const nobody = (key: string): string =>
  `no control node has told of ${key} yet: its settings need that source, and discovery.share`
