// `?dryRun=true`: a change of the configuration with all its checks and its answer, and no commit.
import { Type } from 'typebox'
import { isConfigWrite } from './reference/answer-headers.ts'
import type { Route } from './http/route.ts'

/** In every answer to a dry run, refusals too. */
export const dryRunHeader = 'x-gslb-dry-run'

export const DryRun = Type.Object(
  {
    dryRun: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Make all checks and give the answer as it would be, and change nothing; the answer ' +
          'has `X-Gslb-Dry-Run`, and the id of what would be new is an example.',
      }),
    ),
  },
  { additionalProperties: false },
)

/** Writes of what is in Git; others know no such parameter and answer 400. */
export function takesDryRun(row: Route): boolean {
  return row.takesDryRun === true || isConfigWrite(row)
}

/** @param query before or after it was checked */
export function isDryRun(query: unknown): boolean {
  const { dryRun } = (query ?? {}) as { readonly dryRun?: unknown }
  return dryRun === true || dryRun === 'true'
}
