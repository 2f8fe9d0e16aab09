// Defines the errors of single sign-on: a status, a sentence for the person, and a reason for the
// log. None holds a code, a token or a secret.
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client'

export interface OidcFault {
  readonly status: number
  /** For the person, without any text from outside. */
  readonly sentence: string
  /** For the log. */
  readonly reason: string
}

const away = {
  status: 502,
  sentence:
    'the identity provider cannot be asked at the moment; log in with a password, or try again ' +
    'in a minute',
} as const
const misfit = {
  status: 401,
  sentence: 'the answer of the identity provider does not belong to this login; begin again',
} as const
const declined = {
  status: 401,
  sentence: 'the identity provider did not let this login pass',
} as const

export function faultOfDiscovery(error: unknown): OidcFault {
  return { ...away, reason: `discovery: ${reasonOf(error)}` }
}

export function faultOfLogin(error: unknown): OidcFault {
  return { ...kindOf(error), reason: reasonOf(error) }
}

/** Codes of openid-client for broken answers, rather than wrong ones. */
const awayCodes: ReadonlySet<string> = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
  'OAUTH_MISSING_SERVER_METADATA',
  'OAUTH_INVALID_SERVER_METADATA',
  'OAUTH_HTTP_REQUEST_FORBIDDEN',
])

function kindOf(error: unknown): Omit<OidcFault, 'reason'> {
  if (error instanceof AuthorizationResponseError) return declined
  // The code was used, is too old or is not ours; other refusals concern this server.
  if (error instanceof ResponseBodyError) return error.error === 'invalid_grant' ? misfit : away
  if (error instanceof ClientError) return awayCodes.has(error.code ?? '') ? away : misfit
  return away
}

const lengthMax = 200

/** Only the code of a cause: it may quote the request or the answer. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const parts = [error.message, codeOf(error), codeOf(error.cause)]
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    parts.push(error.error)
  }
  return [...new Set(parts.filter((part) => part !== ''))].join(', ').slice(0, lengthMax)
}

function codeOf(value: unknown): string {
  const code = value instanceof Error ? (value as NodeJS.ErrnoException).code : undefined
  return typeof code === 'string' ? code : ''
}
