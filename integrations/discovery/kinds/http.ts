// http: target groups from a web server, as the `http_sd` of Prometheus.
import { askJson } from '#integrations/http/json-client.ts'
import { err, ok } from '#lib/result.ts'
import type { DiscoveryKind } from '#integrations/targets/kind.ts'
import { discoveryLimits } from '#integrations/targets/limits.ts'
import { credentialsOf } from '#integrations/targets/credentials.ts'
import { targetsOfGroups } from '#integrations/targets/target-groups.ts'

/** The entity tag is the cursor: a server that knows it says that nothing has changed. */
export const http: DiscoveryKind = {
  name: 'http',
  needs: ['url'],
  service: 'none',
  create:
    (source, parts) =>
    async ({ cursor, signal }) => {
      const credentials = credentialsOf(source, parts)
      if (!credentials.ok) return credentials
      const answer = await askJson(
        {
          url: source.url,
          method: 'GET',
          headers: {
            ...credentials.value,
            ...(cursor === '' ? {} : { 'if-none-match': cursor }),
            'x-prometheus-refresh-interval-seconds': String(source.intervalMs / 1000),
          },
          signal,
          bytesMax: discoveryLimits.bytesMax,
          statuses: cursor === '' ? [] : [304],
        },
        source.timeoutMs,
      )
      if (!answer.ok) return answer
      const { status, json, etag } = answer.value
      if (status === 304) return ok({ targets: null, cursor })
      if (status !== 200) return err(`${new URL(source.url).host} answered ${status}`)
      const targets = targetsOfGroups(json)
      if (targets.ok) return ok({ targets: targets.value, cursor: etag })
      return err(`${new URL(source.url).host}: ${targets.error}`)
    },
}
