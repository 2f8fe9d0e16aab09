// The port by which handlers change the configuration: an operation in, a commit out.
import type { WriteFailure, WriteRequest, WriteSuccess } from '#config/operation.ts'
import type { Result } from '#lib/result.ts'

/** Durable and live when it resolves. */
export interface ConfigWriter {
  readonly write: (request: WriteRequest) => Promise<Result<WriteSuccess, WriteFailure>>
}
