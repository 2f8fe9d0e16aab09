// Finds access to a Kubernetes API: by a kubeconfig file, or by the account of a pod.
import { execFile } from 'node:child_process'
import type { ExecFileException } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'
import { parseDocument } from 'yaml'
import { fieldsOf, parseJson } from '#lib/text/json.ts'
import type { Fields } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { httpLimits } from './json-client.ts'
import type { JsonRequest } from './json-client.ts'

export interface KubernetesAccess {
  /** Without a final slash. */
  readonly server: string
  /**
   * Called before each request, since tokens in files change.
   *
   * @throws why there are none, for people
   */
  readonly credentials: (signal: AbortSignal) => Promise<Pick<JsonRequest, 'headers' | 'tls'>>
}

/** Folder that Kubernetes mounts in each pod. */
const podAccount = '/var/run/secrets/kubernetes.io/serviceaccount'
const fileBytesMax = 1_048_576

/**
 * @param path empty: the account of the pod
 * @param env of programs that make credentials, and what tells a pod its API
 * @returns what serves for a few minutes: a program that makes credentials is run once. Errors: a
 *   sentence without a secret of the file
 * @param timeoutMs of such a program
 */
export function kubernetesAccess(
  path: string,
  env: NodeJS.ProcessEnv,
  account: string = podAccount,
  timeoutMs: number = httpLimits.timeoutMs,
): Result<KubernetesAccess, string> {
  const place = path === '' ? 'the account of the pod' : path
  try {
    return ok(path === '' ? ofPod(env, account) : ofFile(path, env, timeoutMs))
  } catch (error) {
    const reason = (error as Error).message.slice(0, httpLimits.shownCharactersMax)
    return err(`${place} cannot be used: ${reason}`)
  }
}

function ofPod(env: NodeJS.ProcessEnv, account: string): KubernetesAccess {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = env
  if (host === '') throw new Error('KUBERNETES_SERVICE_HOST is not set, so this is no pod')
  const ca = readText(`${account}/ca.crt`)
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    credentials: () => {
      const headers = bearer(readText(`${account}/token`))
      return Promise.resolve({ headers, tls: { ca } })
    },
  }
}

function ofFile(path: string, env: NodeJS.ProcessEnv, timeoutMs: number): KubernetesAccess {
  const config = fieldsOf(yamlValue(readText(path)))
  const context = named(config, 'context', textIn(config, 'current-context'))
  const cluster = named(config, 'cluster', textIn(context, 'cluster'))
  const user = textIn(context, 'user') === '' ? {} : named(config, 'user', textIn(context, 'user'))
  for (const key of ['auth-provider', 'as', 'proxy-url']) {
    if (isThere(user, key) || isThere(cluster, key)) throw new Error(`${key} is not known here`)
  }
  const server = textIn(cluster, 'server').replace(/\/$/, '')
  if (!/^https?:$/.test(URL.parse(server)?.protocol ?? '')) throw new Error('it has no server')
  const folder = dirname(path)
  const ca = pemIn(cluster, 'certificate-authority', folder)()
  const servername = textIn(cluster, 'tls-server-name')
  const base = {
    ...(ca && { ca }),
    ...(servername && { servername }),
    ...(isTrueIn(cluster, 'insecure-skip-tls-verify') ? { rejectUnauthorized: false } : {}),
  }
  const program = isThere(user, 'exec') ? programOf(fieldsIn(user, 'exec'), folder) : undefined
  const certOf = pemIn(user, 'client-certificate', folder)
  const keyOf = pemIn(user, 'client-key', folder)
  const tokenOf = fileIn(user, 'tokenFile', folder)
  const ownToken = textIn(user, 'token')
  const name = textIn(user, 'username')
  const login = Buffer.from(`${name}:${textIn(user, 'password')}`).toString('base64')
  let made: Promise<ExecCredential> | undefined
  return {
    server,
    credentials: async (signal) => {
      made ??= program && execCredential(program, env, timeoutMs, signal)
      const given: ExecCredential = (await made) ?? {}
      const cert = given.clientCertificateData ?? certOf()
      const key = given.clientKeyData ?? keyOf()
      const token = given.token ?? tokenOf?.() ?? ownToken
      const headers =
        token !== '' ? bearer(token) : name === '' ? {} : { authorization: `Basic ${login}` }
      return { headers, tls: { ...base, ...(cert && { cert }), ...(key && { key }) } }
    },
  }
}

/** @throws what is wrong and where, without the library's text, which quotes the file */
function yamlValue(text: string): unknown {
  let fault = 'it is no YAML that can be used'
  try {
    // Not 'silent', which takes the first of several documents.
    const document = parseDocument(text, { logLevel: 'error' })
    const [mistake] = [...document.errors, ...document.warnings]
    if (mistake === undefined) return document.toJS()
    const [at] = mistake.linePos ?? []
    fault = `${fault}: ${mistake.code}${at ? ` in line ${at.line}, column ${at.col}` : ''}`
  } catch {
    // An alias is undefined, or aliases are too many or too deep.
  }
  throw new Error(fault)
}

interface Program {
  readonly command: string
  readonly path: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly apiVersion: string
}

function programOf(exec: Fields, folder: string): Program {
  const command = textIn(exec, 'command')
  const args = listIn(exec, 'args')
  if (!args.every((one) => typeof one === 'string')) throw new Error('one of args is no text')
  const own = listIn(exec, 'env').map(fieldsOf)
  return {
    command,
    path: command.includes('/') ? resolve(folder, command) : command,
    args,
    env: Object.fromEntries(own.map((one) => [textIn(one, 'name'), textIn(one, 'value')])),
    apiVersion: textIn(exec, 'apiVersion'),
  }
}

interface ExecCredential {
  readonly token?: string
  readonly clientCertificateData?: string
  readonly clientKeyData?: string
}

/** Runs a cloud's program that makes credentials (client.authentication.k8s.io). */
async function execCredential(
  program: Program,
  env: NodeJS.ProcessEnv,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ExecCredential> {
  try {
    return credentialOf(await outputOf(program, env, timeoutMs, signal))
  } catch (error) {
    const { message } = error as Error
    throw new Error(`${program.command} of the kubeconfig has failed: ${message}`, { cause: error })
  }
}

async function outputOf(
  { path, args, env: own, apiVersion }: Program,
  env: NodeJS.ProcessEnv,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string> {
  const info = {
    ...(apiVersion && { apiVersion }),
    kind: 'ExecCredential',
    spec: { interactive: false },
  }
  try {
    const { stdout } = await promisify(execFile)(path, args, {
      // A program may ignore SIGTERM.
      ...{ signal, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: fileBytesMax },
      env: { ...env, ...own, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    })
    return stdout
  } catch (error) {
    // Without its output, which may hold secrets. Too much output kills it, with a code.
    const { code, killed, signal: by } = error as ExecFileException
    const isLate = killed === true && typeof code !== 'string'
    const late = `it did not end within ${timeoutMs / 1000} s`
    throw new Error(isLate ? late : String(code ?? by), { cause: error })
  }
}

/** @throws what is missing, without the output */
function credentialOf(stdout: string): ExecCredential {
  const said = parseJson(stdout)
  if (said === undefined) throw new Error('it says no JSON')
  const status = fieldsIn(fieldsOf(said), 'status')
  const token = textIn(status, 'token')
  const cert = textIn(status, 'clientCertificateData')
  const key = textIn(status, 'clientKeyData')
  if ((cert === '') !== (key === '')) throw new Error('it gives a certificate or a key alone')
  if (token === '' && cert === '') throw new Error('it gives no token, and no certificate')
  return {
    ...(token && { token }),
    ...(cert && { clientCertificateData: cert, clientKeyData: key }),
  }
}

function readText(path: string): string {
  const text = readFileSync(path, 'utf8')
  if (text.length > fileBytesMax) throw new Error(`${path} has more than ${fileBytesMax} octets`)
  return text
}

const bearer = (token: string) => ({ authorization: `Bearer ${token.trim()}` })

/** null counts as absent, here and below. */
const isThere = (fields: Fields, key: string): boolean => (fields[key] ?? undefined) !== undefined

function fieldsIn(fields: Fields, key: string): Fields {
  const value = fields[key] ?? {}
  if (typeof value !== 'object' || Array.isArray(value)) throw new Error(`${key} has no fields`)
  return value as Fields
}

function listIn(fields: Fields, key: string): readonly unknown[] {
  const value = fields[key] ?? []
  if (!Array.isArray(value)) throw new Error(`${key} is no list`)
  return value as readonly unknown[]
}

function textIn(fields: Fields, key: string): string {
  const value = fields[key] ?? ''
  if (typeof value !== 'string') throw new Error(`${key} is no text`)
  return value
}

function isTrueIn(fields: Fields, key: string): boolean {
  const value = fields[key] ?? false
  if (typeof value !== 'boolean') throw new Error(`${key} is neither true nor false`)
  return value
}

/** @returns a function that reads the named file below the folder; undefined: none is named */
function fileIn(fields: Fields, key: string, folder: string): (() => string) | undefined {
  const file = textIn(fields, key)
  if (file === '') return undefined
  return () => {
    try {
      return readText(resolve(folder, file))
    } catch (error) {
      // Without the path, in whose place a key may stand.
      const { code = 'it is too large' } = error as NodeJS.ErrnoException
      throw new Error(`the file of ${key} cannot be read: ${code}`, { cause: error })
    }
  }
}

/** @returns a function that decodes base64, or reads a file; '': neither is there */
function pemIn(fields: Fields, key: string, folder: string): () => string {
  const data = textIn(fields, `${key}-data`)
  const read = fileIn(fields, key, folder)
  return () => (data === '' ? (read?.() ?? '') : Buffer.from(data, 'base64').toString())
}

/** The item with that name in a list such as `clusters`. */
function named(config: Fields, kind: 'cluster' | 'context' | 'user', name: string): Fields {
  const found = listIn(config, `${kind}s`)
    .map(fieldsOf)
    .find((item) => item['name'] === name)
  if (found === undefined) throw new Error(`it has no ${kind} "${name}"`)
  return fieldsIn(found, kind)
}
