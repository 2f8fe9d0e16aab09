// Turns what the API refuses into errors: the status, the sentence, and which request it was.

/** What is wrong with the head of the branch, where that is why a write is refused (409). */
export interface Diagnostic {
  /** For `gslbd explain`. */
  readonly code: string
  readonly message: string
  readonly help: string
  readonly field: string
  readonly file: string
  readonly line: number
}

export interface Asked {
  readonly method: string
  readonly path: string
}

/** A refusal by the API. Its message is the API's own sentence. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError'
  readonly status: number
  readonly method: string
  readonly path: string
  /** As the commit and the audit log have it; empty: something in between answered. */
  readonly requestId: string
  readonly diagnostics: readonly Diagnostic[]
  /** The whole body, which may have more fields; text, where it is no JSON. */
  readonly body: unknown

  constructor({ method, path }: Asked, { status, headers }: Response, body: unknown) {
    super(sentenceOf(status, body))
    this.status = status
    this.method = method
    this.path = path
    this.requestId = headers.get('x-request-id') ?? ''
    this.diagnostics = diagnosticsOf(body)
    this.body = body
  }
}

/** Somebody else has changed the object since it was read (412). */
export class ChangedMeanwhile extends ApiError {
  override readonly name = 'ChangedMeanwhile'
}

/** No answer came: the node is away, the name is unknown, or the connection broke. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'

  constructor({ method, path }: Asked, baseUrl: string, cause: unknown) {
    super(`${method} ${path}: ${baseUrl} does not answer; is it running, and can it be reached?`, {
      cause,
    })
  }
}

export function refusalOf(asked: Asked, response: Response, body: unknown): ApiError {
  const { status } = response
  return status === 412
    ? new ChangedMeanwhile(asked, response, body)
    : new ApiError(asked, response, body)
}

function sentenceOf(status: number, body: unknown): string {
  const { error } = (body ?? {}) as { readonly error?: unknown }
  if (typeof error === 'string') return error
  return `the answer is ${status} without a reason: something between here and the node may have given it`
}

function diagnosticsOf(body: unknown): readonly Diagnostic[] {
  const { diagnostics } = (body ?? {}) as { readonly diagnostics?: unknown }
  return Array.isArray(diagnostics) ? (diagnostics as Diagnostic[]) : []
}
