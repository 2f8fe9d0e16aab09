// Lists the routes. Adding one means a row in its file in routes/, and its cases.
import type { Route } from '#api/route/route.ts'
import { alertRoutes } from './routes/alerts.ts'
import { getAudit } from './routes/audit.ts'
import { authRoutes } from './routes/auth.ts'
import { getGitopsStatus } from './routes/gitops-status.ts'
import { healthHistoryRoutes } from './routes/health-history.ts'
import { getHealth, getReady } from './routes/health.ts'
import { getClientRegions } from './routes/client-regions.ts'
import { getMetrics } from './routes/metrics.ts'
import { bundleRoutes } from './routes/bundles.ts'
import { oidcRoutes } from './routes/oidc.ts'
import { referenceRoutes } from './routes/reference.ts'
import { roleRoutes } from './routes/roles.ts'
import { tenantRoutes } from './routes/tenants.ts'
import { totpRoutes } from './routes/totp.ts'
import { usageRoutes } from './routes/usage.ts'
import { userRoutes } from './routes/users.ts'
import { geoRuleRoutes } from './routes/georules.ts'
import { healthCheckRoutes } from './routes/healthcheck.ts'
import { licenseRoutes } from './routes/license.ts'
import { getMembersHealth } from './routes/member-health.ts'
import { memberRoutes } from './routes/members.ts'
import { planRoutes } from './routes/plan.ts'
import { poolRoutes } from './routes/pools.ts'
import { recordRoutes } from './routes/records.ts'
import { serviceRoutes } from './routes/services.ts'
import { getDashboardStats } from './routes/dashboard.ts'
import { acmeDnsRoutes } from './routes/acme-dns.ts'
import { acmeRoutes } from './routes/acme.ts'
import { dnssecRoutes } from './routes/dnssec.ts'
import { domainRoutes } from './routes/domains.ts'
import { discoveryRoutes } from './routes/discovery.ts'
import { zoneTransferRoutes } from './routes/zone-transfers.ts'
import { deliveryRoutes } from './routes/deliveries.ts'
import { dnsRoutes } from './routes/dns.ts'
import { writtenRecordRoutes } from './routes/written-records.ts'
import { zonePushRoutes } from './routes/zone-pushes.ts'
import { getSnapshot } from './routes/snapshot.ts'
import { healthSignalRoutes } from './routes/health-signals.ts'
import { maintenanceWindowRoutes } from './routes/maintenance-windows.ts'
import { redirectRoutes } from './routes/redirects.ts'
import { rateLimitRoutes } from './routes/rrl.ts'
import { responseRuleRoutes } from './routes/rpz.ts'
import { historyRoutes } from './routes/history.ts'
import { rumRoutes } from './routes/rum.ts'
import { rolloutRoutes } from './routes/rollouts.ts'
import { commitRoutes } from './routes/commits.ts'
import { clusterRoutes } from './routes/cluster.ts'
import { settingsRoutes } from './routes/settings.ts'
import { simulateRoutes } from './routes/simulate.ts'
import { syncNow } from './routes/sync.ts'
import { statusRoutes } from './routes/status.ts'
import { unusedRoutes } from './routes/unused.ts'
import { webSocketRoutes } from './routes/websocket.ts'
import { whyRoutes } from './routes/why.ts'

const upToPlans: readonly Route[] = [
  getHealth,
  getReady,
  ...authRoutes,
  ...totpRoutes,
  ...oidcRoutes,
  ...userRoutes,
  ...roleRoutes,
  ...tenantRoutes,
  ...poolRoutes,
  ...memberRoutes,
  ...serviceRoutes,
  ...recordRoutes,
  ...healthCheckRoutes,
  ...geoRuleRoutes,
  ...statusRoutes,
  getMembersHealth,
  getDashboardStats,
  getSnapshot,
  ...healthSignalRoutes,
  ...maintenanceWindowRoutes,
  ...rolloutRoutes,
  ...responseRuleRoutes,
  ...rateLimitRoutes,
  ...dnssecRoutes,
  ...acmeRoutes,
  ...acmeDnsRoutes,
  ...redirectRoutes,
  ...domainRoutes,
  ...historyRoutes,
  ...rumRoutes,
  ...simulateRoutes,
  ...whyRoutes,
  ...healthHistoryRoutes,
]

const afterPlans: readonly Route[] = [
  ...dnsRoutes,
  ...writtenRecordRoutes,
  ...alertRoutes,
  ...usageRoutes,
  ...unusedRoutes,
  ...licenseRoutes,
  ...webSocketRoutes,
  ...settingsRoutes,
  ...clusterRoutes,
  ...deliveryRoutes,
  ...discoveryRoutes,
  ...zoneTransferRoutes,
  ...zonePushRoutes,
  getGitopsStatus,
  syncNow,
  getMetrics,
  getAudit,
  getClientRegions,
  ...bundleRoutes,
]

const others = [...upToPlans, ...afterPlans]

const all = [...upToPlans, ...planRoutes(others), ...commitRoutes(others), ...afterPlans]

export const routes: readonly Route[] = Object.freeze([...all, ...referenceRoutes(all)])
