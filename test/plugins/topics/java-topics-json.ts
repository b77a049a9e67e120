/** `topics.json` as written by 4.9.7 (TopicConfigSerializeWrapper#toJson(true)) for two topics. */
export const javaTopicsJson = `{
	"dataVersion":{
		"counter":7,
		"timestamp":1700000000123
	},
	"topicConfigTable":{
		"T":{
			"order":false,
			"perm":6,
			"readQueueNums":4,
			"topicFilterType":"SINGLE_TAG",
			"topicName":"T",
			"topicSysFlag":0,
			"writeQueueNums":5
		},
		"%RETRY%G":{
			"order":true,
			"perm":6,
			"readQueueNums":1,
			"topicFilterType":"SINGLE_TAG",
			"topicName":"%RETRY%G",
			"topicSysFlag":2,
			"writeQueueNums":1
		}
	}
}`;

/** The same by 4.9.7 without topics. */
export const javaEmptyTopicsJson = `{
	"dataVersion":{
		"counter":0,
		"timestamp":1795994442160
	},
	"topicConfigTable":{}
}`;
