// Serves a simulation from another commit than the active one: its bundle, with the health of now.
import { loadBundle } from '#bundle/load/load.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import { healthNow, setHealth } from '#routing/choose/explain.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import { GeoLink } from '#inputs/geo/geo-link.ts'

export interface OtherCommit {
  readonly commit: string
  /** Bundle of the commit, if it was compiled before; else its files. */
  readonly from: { readonly bytes: Uint8Array } | { readonly files: readonly SourceFile[] }
}

interface Served {
  readonly bundle: Bundle
  readonly bytes: Uint8Array
  readonly state: RoutingState
  readonly tables: RoutingTables
}

/**
 * @param now the active bundle, whose members' health applies to members of the same name
 *
 * @returns an error as a clause
 */
export async function serveOther(
  { commit, from }: OtherCommit,
  now: Pick<Served, 'bundle' | 'state' | 'tables'>,
): Promise<Result<Served, string>> {
  const bytes = 'bytes' in from ? ok(from.bytes) : await compiled(from.files, commit)
  if (!bytes.ok) return bytes
  const loaded = loadBundle(bytes.value)
  if (!loaded.ok) return err('has a bundle that does not load')
  const { value: bundle } = loaded
  const state = createRoutingState(bundle, 1)
  setHealth(bundle, state, healthNow(now.bundle, now.state))
  const link = new GeoLink({ onChange: (handler) => handler(now.tables.geo) }, () => undefined)
  const tables = { ...link.tablesFor(bundle), networks: packNetworks(bundle) }
  return ok({ bundle, bytes: bytes.value, state, tables })
}

/** A commit that was once accepted compiles again, unless this version reads it differently. */
async function compiled(
  files: readonly SourceFile[],
  commit: string,
): Promise<Result<Uint8Array, string>> {
  // Loaded on demand: most simulations need no compiler.
  const { createCompiler } = await import('#compiler/compile.ts')
  const { readyForScripts } = await import('#compiler/scripts/script-syntax.ts')
  await readyForScripts(files)
  const done = createCompiler().compile(files, { commit })
  if (done.ok) return ok(done.bundle.bytes)
  const [first] = done.diagnostics.filter(({ severity }) => severity === 'error')
  // Only the code: the message may quote files of other tenants.
  return err(`does not compile with this version (${first?.code ?? 'unknown'})`)
}
