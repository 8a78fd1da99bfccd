/** A short text and what it should be found by; each query belongs to this text and to no other. */
export interface JudgedText {
  readonly text: string;
  readonly queries: readonly string[];
}

/**
 * Texts and queries of our own, half English and half Chinese. Of each two queries the first shares its main words with
 * the text, the second says the same in other words as far as it can.
 */
export const JUDGED_TEXTS: readonly JudgedText[] = [
  {
    text: 'Invoices are due thirty days after delivery. Late payment costs two percent a month.',
    queries: ['when are invoices due', 'what happens if I pay too late'],
  },
  {
    text: 'The lighthouse keeper lit the lamp at dusk and wrote each passing ship into a book.',
    queries: ['lighthouse keeper book of ships', 'who kept the lamp burning by the sea'],
  },
  {
    text: 'Restart the router by holding the reset button for ten seconds until the light turns green.',
    queries: ['how to restart the router', 'my internet box hangs, which button do I hold'],
  },
  {
    text: 'Vaccinations against rabies are repeated every three years for dogs and cats.',
    queries: ['how often are rabies vaccinations repeated', 'when does my dog need its shot again'],
  },
  {
    text: 'Bread dough rests overnight in the refrigerator, then bakes at 230 degrees for forty minutes.',
    queries: ['how long does bread bake', 'oven temperature for a loaf'],
  },
  {
    text: 'Employees may carry five unused vacation days into the next calendar year.',
    queries: ['carry over unused vacation', 'can I keep my days off for next year'],
  },
  {
    text: 'The bridge was closed to lorries after engineers found cracks in its northern pillars.',
    queries: ['why was the bridge closed', 'damage found in pillars by engineers'],
  },
  {
    text: 'A backup of the database is taken every night at two and kept for thirty days.',
    queries: ['when is the database backup taken', 'how long are nightly copies kept'],
  },
  {
    text: 'Glaciers in the valley have lost a third of their volume since measurements began in 1950.',
    queries: ['volume lost by glaciers', 'how much ice melted since 1950'],
  },
  {
    text: 'Passengers with more than two suitcases pay forty euros for every additional piece.',
    queries: ['price of additional suitcases', 'extra luggage fee for passengers'],
  },
  {
    text: 'The orchestra opens its season with a symphony by Sibelius, conducted by a guest from Riga.',
    queries: ['which symphony opens the season', 'guest conductor of the orchestra'],
  },
  {
    text: 'Solar panels on the school roof produce more electricity than its classrooms consume.',
    queries: ['electricity from solar panels', 'energy made on top of the school'],
  },
  {
    text: 'Tenants must give notice in writing three months before they move out.',
    queries: ['notice before tenants move out', 'how early must I end my lease in writing'],
  },
  {
    text: 'Bees returned to the orchard once the farmer stopped spraying pesticides in spring.',
    queries: ['why did bees return to the orchard', 'pesticides and insects on the farm'],
  },
  {
    text: 'The museum is free on the first Sunday of each month; on Mondays it is closed.',
    queries: ['when is the museum free', 'day without admission charge at the museum'],
  },
  {
    text: '发票应在交货后三十天内支付，逾期每月加收百分之二。',
    queries: ['发票什么时候支付', '付款晚了要加钱吗，逾期怎么办'],
  },
  { text: '灯塔看守人在黄昏时点亮灯火，并记录每一艘经过的船。', queries: ['灯塔看守人记录什么', '谁记录经过的船只'] },
  {
    text: '按住复位键十秒钟，直到指示灯变绿，路由器就会重新启动。',
    queries: ['路由器怎么重新启动', '上不了网要按哪个键'],
  },
  { text: '猫和狗的狂犬病疫苗每三年接种一次。', queries: ['狂犬病疫苗多久接种', '小狗几年打一次疫苗'] },
  { text: '面团放入冰箱发酵一夜，然后在二百三十度下烘烤四十分钟。', queries: ['面团烘烤多长时间', '做面包要烤几分钟'] },
  { text: '员工可以把五天未用的年假转到下一年。', queries: ['未用的年假可以转到下一年吗', '员工休假能留到明年吗'] },
  { text: '工程师发现北侧桥墩有裂缝后，大桥禁止卡车通行。', queries: ['大桥为什么禁止卡车', '桥墩出现裂缝'] },
  { text: '数据库每天凌晨两点备份，备份保留三十天。', queries: ['数据库备份时间', '备份文件保留多久'] },
  {
    text: '自一九五零年开始测量以来，山谷里的冰川体积减少了三分之一。',
    queries: ['冰川体积减少多少', '山谷的冰化了多少'],
  },
  {
    text: '携带两件以上行李箱的旅客，每多一件需支付四十欧元。',
    queries: ['多一件行李箱多少钱', '旅客行李超件怎么收费'],
  },
  {
    text: '交响乐团以西贝柳斯的作品揭开新乐季，由来自里加的客座指挥执棒。',
    queries: ['交响乐团新乐季的作品', '客座指挥来自哪里'],
  },
  { text: '学校屋顶的太阳能板发的电比教室用的还多。', queries: ['太阳能板发电', '学校用电从哪里来'] },
  { text: '租客搬走前三个月必须书面通知房东。', queries: ['租客搬走要提前多久通知', '退租要提前几个月告诉房东'] },
  { text: '农民春天不再喷洒农药以后，蜜蜂又回到了果园。', queries: ['蜜蜂为什么回到果园', '农药对昆虫的影响，果园'] },
  {
    text: '博物馆每月第一个星期日免费开放，星期一闭馆。',
    queries: ['博物馆什么时候免费', '哪一天参观不要门票，博物馆'],
  },
];
