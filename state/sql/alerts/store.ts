// Alerts in a database: joins the calls of the port.
import type { AlertStore } from '#state/ports/alerts.ts'
import type { Sql } from '#state/sql/database/sql.ts'
import { channelCalls, silenceCalls } from './channels.ts'
import { leaseCalls, reportCalls } from './cluster.ts'
import { alertCalls, noticeCalls } from './queue.ts'

export function createSqlAlerts(database: Sql): AlertStore {
  return {
    ...channelCalls(database),
    ...silenceCalls(database),
    ...reportCalls(database),
    ...leaseCalls(database),
    ...alertCalls(database),
    ...noticeCalls(database),
  }
}
