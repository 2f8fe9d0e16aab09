// The section `alerts` of gslbd.yaml: where messages may go, and when a condition holds.
import { duration, integer, networks, section } from '#settings/forms/forms.ts'

const dayMs = 86_400_000

export const alerts = section('Alerts. [More](../operations/alerts.md).', {
  allowedHosts: networks({
    description:
      'Internal addresses and networks that channels may reach, also without TLS. Loopback, ' +
      'link-local, private, shared, documentation and other reserved addresses are refused ' +
      'otherwise.',
  }),
  groupWait: duration({
    default: '10s',
    minimumMs: 0,
    maximumMs: 3_600_000,
    description: 'How long what begins is gathered into one message. What ends is told at once.',
  }),
  geoMaxAge: duration({
    default: '45d',
    minimumMs: dayMs,
    maximumMs: 3_650 * dayMs,
    description: 'Age of a geo database from which it is `geo-database-stale`.',
  }),
  expiryWarning: duration({
    default: '14d',
    minimumMs: 0,
    maximumMs: 365 * dayMs,
    description: 'How long before their end the licence and certificates are told of.',
  }),
  diskFreeMinPercent: integer(0, 100, {
    default: 5,
    description: 'With less of the disk of `dataDir` free, `disk` holds. 0: it is not looked at.',
  }),
})
