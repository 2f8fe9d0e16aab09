// Condition: nodes answer from different commits for longer than a change takes, or a server does
// not keep its redirects.
import type { Condition } from '#alerts/condition.ts'
import type { AlertFacts, RedirectTargetFacts } from '#alerts/facts.ts'
import { operatorId } from '#state/ports/alerts.ts'

const shownMax = 20
/** Once may be a person who tries something; so often it is a program, or another gslbd. */
const mendedMin = 3

export const drift: Condition = {
  name: 'drift',
  severity: 'warning',
  audience: 'operator',
  isOfNode: false,
  holdMs: 5 * 60_000,
  clearMs: 0,
  says:
    'For five minutes: nodes that share the database answer from different commits, redirects on ' +
    'another server had to be mended three times within an hour, or cannot be written there',
  find: (facts) => [...ofCommits(facts), ...facts.redirectTargets().flatMap(ofTarget)],
}

function ofCommits(facts: AlertFacts): ReturnType<Condition['find']> {
  const commits = facts.commits()
  if (new Set(commits.values()).size < 2) return []
  const list = [...commits]
    .slice(0, shownMax)
    .map(([node, commit]) => `${node}: ${commit === '' ? 'none' : commit.slice(0, 10)}`)
  return [
    {
      tenantId: operatorId,
      subject: 'configuration',
      title: 'nodes answer from different commits',
      detail: `${list.join(', ')}. GET /api/v1/gitops/status of each node says why.`,
    },
  ]
}

function ofTarget({
  target,
  mendedLately,
  fault,
}: RedirectTargetFacts): ReturnType<Condition['find']> {
  const about = { tenantId: operatorId, subject: `redirects of ${target}` }
  if (fault !== '') {
    const title = `redirects cannot be written to ${target}`
    return [{ ...about, title, detail: `${fault}. It is tried again and again.` }]
  }
  if (mendedLately < mendedMin) return []
  const detail =
    'Somebody else changes or removes them there again and again, and gslbd puts them back. ' +
    'Find out who: another program, or another installation with the same prefix.'
  return [{ ...about, title: `redirects of ${target} are changed by somebody else`, detail }]
}
