// The guardrail settings: how many names one change may remove without confirmation.
import { Type } from 'typebox'
import { plannedGroup } from '#schemas/forms/annotations.ts'

/** Percent. */
export const removedNamesDefault = 30

export const Guardrails = Type.Object(
  {
    removedNames: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        description:
          'Percent of the names that one commit may remove or leave without a pool: of all ' +
          'names, of those of services, and of those with records, each by itself. One that ' +
          'removes ' +
          'more, and more than one, is held until a commit with the trailer ' +
          '`Gslb-Override: REASON` says that it is meant; so is one that leaves none, leaves no ' +
          'service with a pool, or takes away a zone that has names. The value in the commit ' +
          'before counts. The same share holds for the requests to the API of ten minutes. ' +
          'Without it: ' +
          `${removedNamesDefault}.`,
      }),
    ),
    members: plannedGroup('Limits on how many members one change may take away.'),
  },
  { additionalProperties: false, description: 'Limits on how much one change may alter.' },
)
