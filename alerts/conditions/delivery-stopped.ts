// Condition: a delivery of a change to the nodes was stopped.
import type { Condition } from '#alerts/condition.ts'
import { operatorId } from '#state/ports/alerts.ts'

export const deliveryStopped: Condition = {
  name: 'delivery-stopped',
  severity: 'error',
  audience: 'operator',
  isOfNode: false,
  holdMs: 0,
  clearMs: 0,
  says: 'A gate of a delivery did not hold, and the change went back or waits for a person',
  find: (facts) =>
    facts.stoppedDeliveries().map(({ channel, isReturned, commit, gate, wave, value, limit }) => ({
      tenantId: operatorId,
      subject: channel,
      title: isReturned
        ? `commit ${commit.slice(0, 12)} was taken back from the nodes`
        : `commit ${commit.slice(0, 12)} stands still on its way to the nodes`,
      detail:
        `In wave ${wave} the gate ${gate} had ${value}, and the limit is ${limit}. ` +
        '`gslbd delivery` shows it; revert the commit, mend it, or promote it.',
    })),
}
