// `?dryRun=true`: checks and answers a change of the configuration without a commit.
import { Type } from '#lib/schema/type.ts'

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

/** @param query before or after it was checked */
export function isDryRun(query: unknown): boolean {
  const { dryRun } = (query ?? {}) as { readonly dryRun?: unknown }
  return dryRun === true || dryRun === 'true'
}
