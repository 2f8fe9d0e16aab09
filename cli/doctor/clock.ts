// Checks whether this clock agrees with those of the servers that the settings name.
import { systemClock } from '#lib/clock.ts'
import { lookAtDatabase } from '#state/look-at-database.ts'
import { bad, good, unknown, warning } from './check.ts'
import type { Check, Finding, CheckedNode } from './check.ts'

/** HTTP dates have whole seconds: RFC 9110 section 5.6.7. */
const warnSeconds = 3
/** TSIG and channel records tolerate some minutes. */
const badSeconds = 60

export const clock: Check = {
  name: 'clock',
  async look(node) {
    const url = sourceOf(node)
    if (url !== undefined) return [await compare(url, node.patienceMs)]
    if (node.settings.database.url !== '') return [await compareWithDatabase(node)]
    return [unknown('not compared: the settings name no server that says its time')]
  },
}

/** Without credentials that the address may hold. */
function sourceOf({
  settings: { gitops, bundle, roles, license },
}: CheckedNode): string | undefined {
  const urls = roles.includes('control') ? [gitops.url, license.serverURL] : bundle.urls
  const first = urls.find((url) => url !== undefined && /^https?:/.test(url) && URL.canParse(url))
  return first === undefined ? undefined : new URL(first).origin
}

async function compare(origin: string, patienceMs: number): Promise<Finding> {
  try {
    const before = systemClock.nowMs()
    const signal = AbortSignal.timeout(patienceMs)
    const response = await fetch(origin, { method: 'HEAD', redirect: 'manual', signal })
    const after = systemClock.nowMs()
    const theirs = Date.parse(response.headers.get('date') ?? '')
    if (Number.isNaN(theirs)) return unknown(`${origin} says no time`)
    // The header has whole seconds, so the server's time may be any moment of that second.
    const offMs = Math.max(0, theirs - after, before - (theirs + 1_000))
    return findingOf(origin, offMs / 1_000)
  } catch {
    return unknown(`not compared: ${origin} does not answer`)
  }
}

/** Where Git is asked over SSH, it is the only one that says its time. */
async function compareWithDatabase({ settings: { database } }: CheckedNode): Promise<Finding> {
  const { url, statementTimeoutMs, startupParameters } = database
  const seen = await lookAtDatabase(url, { connections: 1, statementTimeoutMs, startupParameters })
  const name = 'the database of database.url'
  if (!seen.ok) return unknown(`not compared: ${name} cannot be asked`)
  return findingOf(name, Math.abs(systemClock.nowMs() - seen.value.nowMs) / 1_000)
}

function findingOf(origin: string, offSeconds: number): Finding {
  const todo = 'run a time service, such as systemd-timesyncd or chrony'
  if (offSeconds < warnSeconds) return good(`the clock is that of ${origin}`)
  const found = `the clock and that of ${origin} are ${Math.round(offSeconds)} s apart`
  return offSeconds < badSeconds ? warning(found, todo) : bad(found, todo)
}
