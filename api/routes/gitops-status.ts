// GET /api/v1/gitops/status: the head, accepted and active commits, and the diagnostics between
// them.
import { Type } from '#lib/schema/type.ts'
import type { Caller } from '#access/caller.ts'
import { syncStates } from '#ports/operator-view.ts'
import type { GitopsStatus } from '#ports/operator-view.ts'
import { success } from '#http/reply.ts'
import { route } from '#api/route/route.ts'
import { nullable } from '#http/shapes.ts'

const nullableText = nullable(Type.String())
const nullableNumber = nullable(Type.Number())

const reason = nullable(
  Type.Object({ code: Type.String(), message: Type.String(), sinceMs: Type.Integer() }),
)

const note = nullable(
  Type.String({
    description:
      'Why no guardrail held the accepted commit: it is a repair, and goes back to which earlier ' +
      'commit. Null also where the node has started since it was accepted. For the system ' +
      'administrator.',
  }),
)

const diagnostic = Type.Object({
  severity: Type.Enum(['error', 'warning', 'note']),
  code: Type.String(),
  message: Type.String(),
  help: Type.String(),
  file: Type.String(),
  line: Type.Integer(),
  column: Type.Integer(),
  text: Type.Optional(
    Type.String({
      description:
        'As `gslbd check` prints it, with the line of the file. For the system administrator.',
    }),
  ),
})

const refused = nullable(
  Type.Object({
    code: Type.String(),
    message: Type.String(),
    seq: Type.Integer(),
    digest: Type.String(),
  }),
)

const node = Type.Object({
  channel: Type.String(),
  seq: Type.Integer(),
  serial: Type.Integer(),
  digest: nullableText,
  issuedAtMs: nullableNumber,
  ageSeconds: nullableNumber,
  expired: Type.Boolean(),
  swapCount: Type.Integer(),
  lastSwapMs: nullableNumber,
  refused,
})

const status = Type.Object({
  branch: Type.String(),
  head: nullableText,
  accepted: nullableText,
  active: nullableText,
  sync: Type.Enum([...syncStates]),
  reason,
  note,
  diagnostics: Type.Array(diagnostic),
  lookedFromMs: nullableNumber,
  node,
})

export const getGitopsStatus = route('GET /api/v1/gitops/status', {
  needs: 'settings:read',
  withoutConfig: true,
  tag: 'Node',
  summary: 'The commit seen, the one accepted, the one answered from, and why they differ',
  responses: { 200: { description: 'The status of the configuration', schema: status } },
  ports: ['view'],
  handle: ({ caller, ports }) => success(visibleTo(caller, ports.view.gitops())),
})

/** Hides what files of other tenants contain. */
function visibleTo(caller: Caller, full: GitopsStatus): GitopsStatus {
  if (caller.isSystemAdmin) return full
  const own = `tenants/${caller.tenant}/`
  const { reason } = full
  return {
    ...full,
    diagnostics: full.diagnostics
      .filter(({ file }) => file.startsWith(own))
      // The text may show a line of another tenant's file.
      .map(({ text: _text, ...others }) => others),
    // The note names names and commits of others.
    note: null,
    reason: reason && { ...reason, message: 'the administrator of the system sees the reason' },
  }
}
