// The parts of the daemon that start once it answers DNS: Git, the API, and what needs them.
import { keepAlerts } from './alerts.ts'
import { createApi, listen, lookAtLicence } from './api.ts'
import { giveBundles } from './bundles.ts'
import { joinCluster } from './cluster.ts'
import { shareCommitNews } from './commit-news.ts'
import { keepDelivery } from './delivery.ts'
import { announceAddresses } from './dns.ts'
import { createDomains } from './domains.ts'
import { createGit, followBranch, makeRepository } from './git.ts'
import { keepOverlays } from './overlays.ts'
import type { Part } from './part.ts'
import { runJobs } from './periodic.ts'
import { hearBackupRequests, lookAtDynamicDns } from './state.ts'

export const following: readonly Part[] = [
  lookAtDynamicDns,
  makeRepository,
  createGit,
  shareCommitNews,
  keepAlerts,
  createDomains,
  joinCluster,
  keepDelivery,
  createApi,
  giveBundles,
  listen,
  lookAtLicence,
  followBranch,
  keepOverlays,
  hearBackupRequests,
  runJobs,
  announceAddresses,
]
