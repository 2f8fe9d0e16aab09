// The API over a real repository on this machine, with a few tenants; writes are commits.
import { generateKeyPairSync } from 'node:crypto'
import { systemKey, tokenHash } from '#access/auth/policy.ts'
import { createApp } from '#api/server/app.ts'
import { createConfigTenants } from '#api/config/tenants.ts'
import type { ServerPorts } from '#api/server/app.ts'
import { strictPolicy } from '#compiler/values/health-check-policy.ts'
import type { HealthCheckPolicy } from '#compiler/values/health-check-policy.ts'
import { GitopsControl } from '#gitops/thread/control.ts'
import { originPath } from '#gitops/thread/options.ts'
import { ensureOrigin } from '#gitops/source/origin.ts'
import type { CommitWriter, ConfigWriter, Operation, WriteRequest } from '#config/operation.ts'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { unlessPlanned } from '#questions/plan/judging-writer.ts'
import { devMode, noSessions, portsOf } from './api-ports.ts'
import { gitThreadHere } from './git-thread-here.ts'
import { runProgram } from './run-program.ts'
import { makeTempDir, removeTempDir } from './temp-dir.ts'
import { waitUntil } from './wait-until.ts'
import { portOf } from './port-of.ts'

export const rootKey = 'a'.repeat(64)
/** API key of a tenant: permissions of an operator. */
export const keyOf = (tenant: string): string => tokenHash(`key of ${tenant}`)

/** Fields that tests read; each answer has some of them. */
export interface AnsweredBody {
  readonly id: string
  readonly name: string
  readonly poolId: string | null
  readonly ipAddress: string
  readonly port: number
  readonly enabled: boolean
  readonly weight: number
  readonly domain: string
  readonly endpoint: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly error: string
}

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** Empty when the answer is no object. */
  readonly body: AnsweredBody
  /** Empty when the answer is no list. */
  readonly list: readonly AnsweredBody[]
}

export interface ConfigWorld {
  readonly ports: ServerPorts
  readonly app: ReturnType<typeof createApp>
  readonly control: GitopsControl
  readonly gitdir: string
  readonly git: (...args: string[]) => string
  /**
   * @param path below /api/v1
   * @param by a bearer token
   */
  readonly call: (
    by: string,
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Answered>
  readonly close: () => Promise<void>
}

/** A zone of `recordsSettings`. */
export const recordsZone = 'records.example.'

/** Gives the zone to all tenants of the world. */
export const recordsSettings = `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  zones:
    - name: ${recordsZone}
      nameservers: [{ name: ns1.example.net. }]
      tenants: [default, acme, zenith]
`

export const writeRequest = (
  operations: readonly Operation[],
  override?: string,
): WriteRequest => ({
  requestId: 'request',
  actor: { name: 'test', address: 'test@users.gslbd' },
  operations,
  ...(override === undefined ? {} : { override }),
})

interface ConfigWorldOptions {
  /** gslb.yaml, committed by hand before the first look. */
  readonly settings?: string
  readonly checkPolicy?: HealthCheckPolicy
  readonly ports?: Partial<ServerPorts>
  /** Besides `default`. */
  readonly tenants?: readonly string[]
}

/** Tenants `default`, `acme` and `zenith`; system administrator by `rootKey`. */
export async function startConfigWorld({
  checkPolicy = strictPolicy,
  ports: brought = {},
  settings,
  tenants: others = ['acme', 'zenith'],
}: ConfigWorldOptions = {}): Promise<ConfigWorld> {
  const dataDir = makeTempDir('config-world')
  const gitdir = originPath(dataDir)
  const origin = ensureOrigin(gitdir, 'main')
  if (!origin.ok) throw new Error(origin.error)
  const control = startControl(dataDir, checkPolicy)
  if (settings !== undefined) commitSettings(gitdir, settings)
  await control.start()
  const configWriter = writerOf(control)
  const tenants = createConfigTenants(control.config, configWriter, systemClock)
  const tenantOf = new Map(['default', 'acme', 'zenith'].map((id) => [tokenHash(keyOf(id)), id]))
  const ports = portsOf({
    auth: { ...devMode, systemKey: systemKey(rootKey) },
    config: control.config,
    configWriter,
    history: control.history,
    checkPolicy,
    tenants,
    roles: portOf('roles', { findByName: async () => ok(null) }),
    tenantKeys: portOf('tenantKeys', {
      findTenant: async (hash) => ok(tenantOf.get(hash) ?? null),
    }),
    sessions: noSessions,
    ...brought,
  })
  const app = createApp(ports, [])
  const call = callerOf(app)
  await waitUntil('the first look', () =>
    settings === undefined ? control.status().code === 'BranchMissing' : control.config.isReady(),
  )
  for (const name of others) {
    const made = await ports.configWriter.write({
      requestId: 'setup',
      actor: { name: 'setup', address: 'setup@users.gslbd' },
      operations: [{ verb: 'create', kind: 'Tenant', tenant: name, name, spec: {} }],
    })
    if (!made.ok) throw new Error(made.error.message)
  }
  return {
    ports,
    app,
    control,
    gitdir,
    git: (...args) =>
      runProgram('git', ['-C', gitdir, ...args])
        .toString()
        .trim(),
    call,
    close: async () => {
      await app.close()
      await control.stop()
      removeTempDir(dataDir)
    },
  }
}

function commitSettings(gitdir: string, settings: string): void {
  const git = (input: string, ...args: string[]): string =>
    runProgram('git', ['-C', gitdir, ...args], { input })
      .toString()
      .trim()
  const blob = git(settings, 'hash-object', '-w', '--stdin')
  const tree = git(`100644 blob ${blob}\tgslb.yaml\n`, 'mktree')
  const person = ['-c', 'user.name=ann', '-c', 'user.email=ann@example.com']
  git('', 'update-ref', 'refs/heads/main', git('', ...person, 'commit-tree', '-m', 'x', tree))
}

/** The writer for requests that ask for no effect: nothing needs a plan. */
export function writerOf(control: CommitWriter): ConfigWriter {
  return {
    write: async (request) => {
      const done = unlessPlanned(await control.write(request))
      assert(done !== undefined, 'no limit on moved clients is set')
      return done
    },
  }
}

function startControl(dataDir: string, checkPolicy: HealthCheckPolicy): GitopsControl {
  const { privateKey } = generateKeyPairSync('ed25519')
  const options = {
    dataDir,
    url: '',
    branch: 'main',
    pollMs: 30_000,
    requireSignature: false,
    allowedSignersPath: '',
    channel: 'main',
    signingKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    recordTtlMs: 3_600_000,
    checkPolicy,
    judging: { databases: {}, hasDatabases: false },
    resume: null,
  }
  return new GitopsControl(options, {}, systemClock, gitThreadHere)
}

function callerOf(app: ReturnType<typeof createApp>): ConfigWorld['call'] {
  return async (by, method, path, body, headers = {}) => {
    const answer = await app.inject({
      method: method as 'GET',
      url: `/api/v1${path}`,
      headers: { ...(by === '' ? {} : { authorization: `Bearer ${by}` }), ...headers },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    })
    const { statusCode: status, payload: text } = answer
    const parsed: unknown = /^[[{]/.test(text) ? JSON.parse(text) : {}
    const isList = Array.isArray(parsed)
    return {
      status,
      headers: answer.headers as Answered['headers'],
      text,
      body: (isList ? {} : parsed) as AnsweredBody,
      list: isList ? (parsed as AnsweredBody[]) : [],
    }
  }
}
