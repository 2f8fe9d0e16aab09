// A maintenance window: a period in which members are out of rotation.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { choice } from '#schemas/forms/annotations.ts'
import { Instant } from '#schemas/forms/instant.ts'
import { uuidPattern } from '#lib/text/patterns.ts'
import { membersPerPoolMax } from './pool.ts'

export const MaintenanceWindowSpec = Type.Object(
  {
    resourceType: choice(['member', 'pool'], {
      description: 'One member, or each member of a pool.',
    }),
    resource: Type.String({
      minLength: 1,
      maxLength: 600,
      description:
        'A pool by name or uid; a member as `POOL/NAME`, `POOL/ADDRESS` or uid; both of this tenant.',
    }),
    startAt: Instant('When the members leave.'),
    endAt: Instant('When they are back; the members that are disabled in the pool stay so.'),
    members: Type.Optional(
      Type.Array(Type.String({ pattern: uuidPattern }), {
        maxItems: membersPerPoolMax,
        description:
          'Uids of the members that it holds out. gslbd writes them when the window begins; ' +
          'until then it is for each member that is enabled.',
      }),
    ),
  },
  { additionalProperties: false, description: 'A time in which members are out of rotation.' },
)
export type MaintenanceWindowSpec = Static<typeof MaintenanceWindowSpec>
