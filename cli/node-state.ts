// What a node keeps besides its configuration: opened when it is first needed, in one place.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '#lib/clock.ts'
import { err } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { createPersistent } from '#state/persistent.ts'
import type { PersistentState } from '#state/persistent.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'

export interface NodeState {
  /** Each port opens the database when it is first called. */
  readonly persistent: Pick<PersistentState, PersistentPort>
  /** Errors: a sentence that says what to do. */
  readonly open: () => Promise<Result<PersistentState, string>>
  /** There is something to open: this is not the first start. */
  readonly exists: () => boolean
  readonly close: () => Promise<void>
}

const persistentPorts = [
  'users',
  'roles',
  'tenantKeys',
  'audit',
  'usage',
  'licences',
  'settings',
] as const
type PersistentPort = (typeof persistentPorts)[number]

export interface NodeStateOptions {
  readonly dataDir: string
  /** Empty: PGlite in the data directory. */
  readonly databaseUrl: string
  readonly clock: Clock
  /** Runs when the database was opened, before anybody else uses it. */
  readonly prepare: (state: PersistentState) => Promise<void>
}

export function createNodeState(options: NodeStateOptions): NodeState {
  const { dataDir, databaseUrl, clock, prepare } = options
  let opening: Promise<Result<PersistentState, string>> | undefined
  const open = (): Promise<Result<PersistentState, string>> =>
    (opening ??= createPersistent({ url: databaseUrl, dataDir, node: '', clock }).then(
      async (opened) => {
        if (opened.ok) await prepare(opened.value)
        else opening = undefined
        return opened
      },
    ))
  const ports = persistentPorts.map((name) => [name, whenOpen(open, name)])
  return {
    persistent: Object.fromEntries(ports) as NodeState['persistent'],
    open,
    exists: () => databaseUrl !== '' || existsSync(join(dataDir, 'database')),
    close: async () => {
      const opened = await opening
      if (opened?.ok === true) await opened.value.close()
    },
  }
}

type StoreMethod = (...values: readonly unknown[]) => Promise<unknown>

/** A port whose methods all give a `StoreCall`. */
function whenOpen(
  open: () => Promise<Result<PersistentState, string>>,
  name: PersistentPort,
): object {
  const method = (key: string): StoreMethod => {
    return async (...values) => {
      const opened = await open()
      if (!opened.ok) {
        const failure: StoreFailure = { code: 'store-away', message: opened.error }
        return err(failure)
      }
      const port = opened.value[name] as unknown as Readonly<Record<string, StoreMethod>>
      return port[key]?.(...values)
    }
  }
  return new Proxy({}, { get: (_port, key) => method(String(key)) })
}
