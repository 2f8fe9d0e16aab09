// GET /api/v1/gitops/status: the head, accepted and active commits, and the diagnostics between
// them.
import { seesFile } from '#access/caller.ts'
import type { Caller } from '#access/caller.ts'
import { GitopsStatus } from '#ports/operator-view.ts'
import { success } from '#http/reply.ts'
import { route } from '#api/route/route.ts'

export const getGitopsStatus = route('GET /api/v1/gitops/status', {
  needs: 'settings:read',
  withoutConfig: true,
  tag: 'Node',
  summary: 'The commit seen, the one accepted, the one answered from, and why they differ',
  responses: { 200: { description: 'The status of the configuration', schema: GitopsStatus } },
  ports: ['view'],
  handle: ({ caller, ports }) => success(visibleTo(caller, ports.view.gitops())),
})

/** Hides what files of other tenants contain. */
function visibleTo(caller: Caller, full: GitopsStatus): GitopsStatus {
  if (caller.isSystemAdmin) return full
  const { reason } = full
  return {
    ...full,
    diagnostics: full.diagnostics
      .filter(({ file }) => seesFile(caller, file))
      // The text may show a line of another tenant's file.
      .map(({ text: _text, ...others }) => others),
    // The note names names and commits of others.
    note: null,
    reason: reason && { ...reason, message: 'the administrator of the system sees the reason' },
  }
}
