// Defines `?dryRun=true`: a change of the configuration is checked and answered without a commit.
import { Type } from '#lib/schema/type.ts'
import { closed } from './shapes.ts'

/** In every response to a dry run, refusals included. */
export const dryRunHeader = 'x-gslb-dry-run'

export const DryRun = closed({
  dryRun: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Make all checks and give the answer as it would be, and change nothing; the answer ' +
        'has `X-Gslb-Dry-Run`, and the id of what would be new is an example.',
    }),
  ),
})

/** @param query before or after its check */
export function isDryRun(query: unknown): boolean {
  const { dryRun } = (query ?? {}) as { readonly dryRun?: unknown }
  return dryRun === true || dryRun === 'true'
}
