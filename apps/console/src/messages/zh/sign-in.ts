import type { signIn as SignIn } from '../en/sign-in';

export const signIn = {
  title: '登录',
  go: '登录',
  oidc: (name: string) => `使用 ${name} 继续`,
  refusals: {
    sso: '身份提供方未让您登录，或用时超过十分钟。请重试。',
    'sso-not-invited': '您尚未受到邀请。请先接受邀请：它是所有者或运营者发来的链接。',
    'sso-other-address': '邀请的电子邮件地址与身份提供方所知的地址不同。',
    'sso-invitation-used': '邀请已被使用，或已超过 72 小时。',
  },
  orPassword: '或使用密码：',
  byKey: '使用 API 密钥',
  keyHint: '权限与该密钥完全相同。',
  key: 'API 密钥',
  byToken: '以运营身份',
  link: '正在打开链接…',
  linkFailed: '此链接已失效。',
  linkFailedHint:
    '链接只能使用一次，15 分钟内有效。嵌入式网关每次启动都会打印新链接；npm run console-link 可随时打印一个。',
  noWays: '此网关尚无登录方式：npm run console-link 会打印链接。',
  asAnotherUser: '以其他身份登录',
  invitationAgain: '请向邀请人索取新链接；如已接受邀请，请直接登录：',
  invitation: (account: string) => `邀请您加入 ${account}`,
  invitationOperator: '邀请您运营此网关',
  invitationRole: (role: string) => `您的角色：${role}。`,
  name: '您的姓名',
  newPassword: '设置密码',
  newPasswordHint: '至少 12 个字符。',
  accept: '接受邀请',
} satisfies typeof SignIn;
