// The sections `database` and `redis` of gslbd.yaml.
import { boolean, duration, integer, section, text } from '#settings/forms/forms.ts'

export const databaseSection = section(
  'What must not be lost and is not in Git: accounts, keys, usage.',
  {
    url: text(2_000, {
      default: '',
      pattern: '^(postgres(ql)?://[^/].*)?$',
      'x-secret': true,
      'x-expected': 'an address that begins with postgresql:// and a host',
      description:
        'postgresql:// address. Empty: a database in the data directory, of this process ' +
        'alone. Several hosts with commas: the one that takes writes is used. An address with a ' +
        'password belongs in GSLB_DATABASE_URL. [More](../operations/stores.md).',
    }),
    connections: integer(1, 1_000, {
      default: 8,
      description: 'Connections to PostgreSQL at once; calls beyond them wait.',
    }),
    statementTimeout: duration({
      default: '10s',
      minimumMs: 100,
      maximumMs: 3_600_000,
      description: 'PostgreSQL gives up a statement that takes longer.',
    }),
    startupParameters: boolean({
      default: true,
      description:
        'Whether connections name their timeouts in the startup packet. PgBouncer and other ' +
        'poolers refuse that: with false each connection sets them by SET.',
    }),
    cacheTTL: duration({
      default: '30s',
      minimumMs: 0,
      maximumMs: 86_400_000,
      reload: true,
      description:
        'Accepted and ignored: no answer is read from the database. ' +
        '[More](settings.md#accepted-and-ignored).',
    }),
  },
)

export const redis = section(
  'What may be forgotten and all nodes share: sessions, failed logins, what each finds of ' +
    'members.',
  {
    url: text(2_000, {
      default: '',
      description:
        'redis:// or rediss:// address. Empty: the memory of this process. Several hosts with ' +
        'commas are Sentinels or nodes of a Cluster. An address with a password belongs in ' +
        'GSLB_REDIS_URL. [More](../operations/stores.md).',
    }),
    master: text(255, {
      default: '',
      description: 'What Sentinels call the master: the hosts of `url` are Sentinels.',
    }),
    sentinelPassword: text(1_000, {
      default: '',
      'x-secret': true,
      description: 'Password of the Sentinels. It belongs in GSLB_REDIS_SENTINEL_PASSWORD.',
    }),
    cluster: boolean({
      default: false,
      description: 'Whether the hosts of `url` are nodes of a Redis Cluster.',
    }),
    ca: text(4_096, {
      'x-kind': 'path',
      'x-default': 'the authorities of the system',
      description: 'PEM file of the authorities that are believed of rediss:// addresses.',
    }),
    serverName: text(253, {
      default: '',
      description:
        'Name that certificates are checked for; default: the host that is connected to.',
    }),
  },
)
