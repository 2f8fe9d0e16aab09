// Lists what a node cannot know about the use of its configuration, because of its settings.
import { useLimits } from '#answer/counters/use-marks.ts'
import type { UseView } from '#ports/object-use.ts'
import type { Settings } from '#settings/settings.ts'

/**
 * @param isTooMuch true: the configuration has more than `useLimits.objectsMax` names and members
 */
export function useGaps(
  { dns, redirect }: Pick<Settings, 'dns' | 'redirect'>,
  isTooMuch: boolean,
): ReturnType<UseView['gaps']> {
  const most = useLimits.objectsMax.toLocaleString('en')
  const names = isTooMuch
    ? `there are more than ${most} names, members and rules`
    : dns.axfr.enabled
      ? 'zones are transferred (dns.axfr), and what secondary servers answer is not counted'
      : ''
  const { caddy, nginx, gatewayAPI, cdn } = redirect
  const isElsewhere = [caddy, nginx, gatewayAPI, cdn].some(({ enabled }) => enabled)
  const redirects = isTooMuch
    ? names
    : isElsewhere
      ? 'other servers answer them, too, and what they answer is not counted'
      : redirect.port === undefined
        ? 'this node does not answer them (redirect.port)'
        : ''
  return { names, redirects }
}
