// /api/v1/dashboard/stats: counts of objects, and of healthy members.
import { success } from '#http/reply.ts'
import { DashboardStats, statsOf } from '../resources/dashboard.ts'
import { route } from '#api/route/route.ts'

export const getDashboardStats = route('GET /api/v1/dashboard/stats', {
  needs: 'pool:read',
  tag: 'Dashboard',
  summary: "The numbers of the caller's tenant; of all tenants for a system administrator",
  responses: { 200: { description: 'The numbers', schema: DashboardStats } },
  ports: ['config', 'memberHealth', 'node'],
  handle: (context) => success(statsOf(context)),
})
