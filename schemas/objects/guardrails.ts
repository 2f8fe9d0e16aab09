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
          'Percent of the domains of services that one commit may remove or leave without a ' +
          'pool. One that removes more, and more than one, is held until a commit with the ' +
          'trailer `Gslb-Override: REASON` says that it is meant; so is one that leaves none, or ' +
          'takes away a zone that has services. The value in the commit before counts. The same ' +
          'share holds for the requests to the API of ten minutes. Without it: ' +
          `${removedNamesDefault}.`,
      }),
    ),
    members: plannedGroup('Limits on how many members one change may take away.'),
  },
  { additionalProperties: false, description: 'Limits on how much one change may alter.' },
)
