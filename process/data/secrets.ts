// Reads from the environment the API's keys, which may not be in settings, and the path of the
// audit log.
import { readFileSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { KeyObject } from 'node:crypto'
import { keyOfToken } from '#fleet/nodes/credentials.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { variable } from '#system/process/command.ts'
import type { Io } from '#system/process/command.ts'

export interface NodeSecrets {
  /** GSLB_API_KEY; null: dev mode. */
  readonly apiKey: string | null
  /** 32 octets of GSLB_SECRET_KEY; null: not set. */
  readonly secretKey: Uint8Array | null
  /** GSLB_BUNDLE_TOKEN; null: only the system key may fetch bundles. */
  readonly bundleToken: string | null
  /** GSLB_METRICS_TOKEN; null: metrics need a key or an account. */
  readonly metricsToken: string | null
  /**
   * GSLB_WEBHOOK_SECRET, or the content of GSLB_WEBHOOK_SECRET_FILE; null: webhooks are ignored.
   */
  readonly webhookSecret: string | null
  /** GSLB_AUDIT_LOG; null: the main log. */
  readonly auditLog: string | null
}

/** Shorter keys could be guessed; 32 octets as hexadecimal digits are recommended. */
const apiKeyLengthMin = 16
const webhookFile = 'GSLB_WEBHOOK_SECRET_FILE'

/** Errors: a sentence that names the variable, and not its value. */
export function readSecrets(env: Io['env']): Result<NodeSecrets, string> {
  const apiKey = variable(env, 'GSLB_API_KEY') ?? null
  if (apiKey !== null && !/^[!-~]+$/.test(apiKey)) {
    return err('GSLB_API_KEY has a space or a letter outside ASCII: no client could send it')
  }
  const bundleToken = readBundleToken(env)
  if (!bundleToken.ok) return bundleToken
  const metricsToken = readToken(env, 'GSLB_METRICS_TOKEN')
  if (!metricsToken.ok) return metricsToken
  const webhookSecret = readToken(env, 'GSLB_WEBHOOK_SECRET', tokenFile(env, webhookFile))
  if (!webhookSecret.ok) return webhookSecret
  const hex = variable(env, 'GSLB_SECRET_KEY') ?? null
  if (hex !== null && !/^[0-9a-f]{64}$/i.test(hex)) {
    return err('GSLB_SECRET_KEY is not 64 hexadecimal digits; make one with: openssl rand -hex 32')
  }
  const auditLog = variable(env, 'GSLB_AUDIT_LOG') ?? null
  if (auditLog !== null && !isAbsolute(auditLog)) {
    return err('GSLB_AUDIT_LOG is not an absolute path; begin it with "/"')
  }
  const secretKey = hex === null ? null : Buffer.from(hex, 'hex')
  return ok({
    apiKey,
    bundleToken: bundleToken.value,
    metricsToken: metricsToken.value,
    webhookSecret: webhookSecret.value,
    secretKey,
    auditLog,
  })
}

/** The key of a control node with `acme.names`. Errors: a sentence. */
export function readCertificateKey(env: Io['env']): Result<Uint8Array, string> {
  const secrets = readSecrets(env)
  if (!secrets.ok) return secrets
  const { secretKey } = secrets.value
  return secretKey === null ? err(noCertificateKey) : ok(secretKey)
}

const noCertificateKey =
  'acme.names needs GSLB_SECRET_KEY, under which account and certificate are stored; set it to ' +
  'the same 64 hexadecimal digits on every control node (openssl rand -hex 32 makes some)'

/** The token that control nodes require of pulling nodes, which send it. null: not set. */
export function readBundleToken(env: Io['env']): Result<string | null, string> {
  return readToken(env, 'GSLB_BUNDLE_TOKEN')
}

/** The key with which this node signs its reports. null: it has none. Errors: a sentence. */
export function readNodeKey(env: Io['env']): Result<KeyObject | null, string> {
  const token = variable(env, 'GSLB_NODE_TOKEN')
  if (token === undefined) return ok(null)
  const key = keyOfToken(token)
  if (key !== undefined) return ok(key)
  return err('GSLB_NODE_TOKEN is no token of a node; "gslbd node add" on a control node makes one')
}

function readToken(
  env: Io['env'],
  name: string,
  ofFile: Result<string | null, string> = ok(null),
): Result<string | null, string> {
  if (!ofFile.ok) return ofFile
  const token = variable(env, name) ?? ofFile.value
  if (token === null || /^[!-~]{16,200}$/.test(token)) return ok(token)
  return err(
    `${name} is not 16 to 200 characters of ASCII without a space; ` +
      'make one with: openssl rand -hex 32',
  )
}

/** A token in a file, as of container platforms and LoadCredential. null: none is named. */
function tokenFile(env: Io['env'], name: string): Result<string | null, string> {
  const path = variable(env, name)
  if (path === undefined) return ok(null)
  if (!isAbsolute(path)) return err(`${name} is not an absolute path; begin it with "/"`)
  try {
    return ok(readFileSync(path, 'utf8').trimEnd())
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return err(`The file that ${name} names cannot be read: ${why}`)
  }
}

/** A warning when the key is weak, or undefined. */
export function weakKey({ apiKey }: NodeSecrets): string | undefined {
  if (apiKey === null || apiKey.length >= apiKeyLengthMin) return undefined
  return 'GSLB_API_KEY is short enough to be guessed; make one with: openssl rand -hex 32'
}
